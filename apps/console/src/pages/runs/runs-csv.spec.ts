import { expect, it } from '@jest/globals';
import { csvOfRuns } from './runs-csv.ts';

it('writes runs as CSV, without formulas', () => {
  const csv = csvOfRuns([
    {
      request_id: 'r',
      model: 'bfl/flux-2-pro',
      status: 'COMPLETED',
      outcome: 'succeeded',
      created_at: '2026-01-02T03:04:05.000Z',
      reserved_cents: 3,
      cost_cents: 2.5,
      key_name: '=HYPERLINK("https://evil.example")',
      tags: { project: 'a', team: 'b' },
      user: '-1',
      result_available: true,
    },
  ]);
  const [head, line, end] = csv.split('\r\n');
  expect(head).toMatch(/^request_id,created_at,.*,kept$/);
  expect(line).toBe(
    `"r","2026-01-02T03:04:05.000Z",,"bfl/flux-2-pro","COMPLETED","succeeded",,,2.5,3,,,"'=HYPERLINK(""https://evil.example"")","project=a,team=b","'-1",false`,
  );
  expect(end).toBe('');
});

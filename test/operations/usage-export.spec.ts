import { expect, it } from '@jest/globals';
import { insertRecords } from '../admin/many-records.js';
import { runBuilt } from '../admin/run-built-admin.js';
import { createDatabase, failOnLeftovers } from '../harness/index.js';

it('a usage export prints more than fits into its memory', async () => {
  const database = await createDatabase();
  const records = 150_000;
  await insertRecords(database.url, 'busy', records);
  const { code, out } = await runBuilt(
    { DATABASE_URL: database.url },
    {
      words: ['usage', 'export', '--workspace', 'busy'],
      nodeArguments: ['--max-old-space-size=64'],
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  await database.drop();
  const [, ...lines] = out.trimEnd().split('\r\n');
  expect([code, lines.length]).toEqual([0, records]);
  expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(records);
});

failOnLeftovers();

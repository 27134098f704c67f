import { describe, expect, it } from '@jest/globals';
import { auditSearch } from './audit-search.ts';

describe('auditSearch', () => {
  it('keeps the filters of an address', () => {
    const filters = {
      actor: 'alice',
      action: 'run.refund',
      subject: 'bfl',
      workspace: 'acme',
      since: '2026-01-01',
      until: '2026-02-01',
    };
    expect(auditSearch(filters)).toEqual(filters);
  });

  it('drops empty, unknown and malformed filters', () => {
    expect(
      auditSearch({
        actor: '',
        action: 'toString',
        subject: 5,
        workspace: undefined,
        since: 'yesterday',
        until: '2026-1-1',
        page: '2',
      }),
    ).toEqual({});
  });
});

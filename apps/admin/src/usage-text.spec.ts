import type { UsageRecord } from '#persistence';
import { describe, expect, it } from '@jest/globals';
import { exportFormats, usageDocument } from './usage-text.js';

const record: UsageRecord = {
  requestId: '0190f3c4-0000-7000-8000-000000000001',
  runId: '0190f3c4-0000-7000-8000-000000000002',
  workspace: 'acme',
  credential: 'token:a "b", c',
  keyPrefix: null,
  model: 'bfl/flux-2-pro',
  provider: 'bfl',
  route: 'POST /v2/models/{provider}/{model}',
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  admittedAt: '2026-01-01T00:00:00.000001Z',
  completedAt: '2026-01-01T00:00:01.500001Z',
  latencyMs: 1500,
  costMicros: 200_001,
  billedMicros: 0,
  basis: null,
  callerLeft: false,
  attribution: { 'tag:project': 'alpha', user: '@u', 'tag:team': 'web' },
  simulated: true,
};

describe('exportFormats', () => {
  it('has a heading with all columns and one line per record in CSV', () => {
    expect(exportFormats.csv.heading).toBe(`${Object.keys(usageDocument(record)).join(',')}\r\n`);
    expect(exportFormats.csv.line(record)).toBe(
      `${record.requestId},${record.runId},acme,"token:a ""b"", c",,bfl/flux-2-pro,bfl,POST /v2/models/{provider}/{model},failed,provider_error,502,2026-01-01T00:00:00.000001Z,2026-01-01T00:00:01.500001Z,1500,20.0001,0,,false,"project=alpha,team=web",'@u,true\r\n`,
    );
  });

  it('has only one document per line in JSON Lines', () => {
    expect(exportFormats.jsonl.heading).toBe('');
    const line = exportFormats.jsonl.line(record);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toEqual(usageDocument(record));
  });
});

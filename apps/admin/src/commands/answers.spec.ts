import type { Workspace } from '#persistence';
import { describe, expect, it } from '@jest/globals';
import { workspaceAnswer } from '../workspace-answer.js';
import { problemLine } from './catalog.js';
import { limitsAnswer } from './workspace-limits.js';

// A plain object: the spread of an entity would lose its class.
const workspace: Pick<Workspace, keyof Workspace> = {
  id: '0190f3c4-0000-7000-8000-000000000001',
  name: 'acme',
  enabled: true,
  visible: ['**'],
  runnable: [],
  inflightLimit: 5,
  committedLimitMicros: 100_000_000,
  backlogLimit: 1000,
  windowLimit: 600,
  fileLimit: 1000,
  fileBytesLimit: 10_737_418_240,
  balanceMicros: null,
  markup: 1.2,
  webhookSecrets: ['whsec_5ec4e7'],
  webhookSecretRotatedAt: null,
  inflight: 2,
  committedMicros: 55_000,
  heldMicros: 60_000,
  backlog: 3,
  createdAt: new Date('2026-01-01T00:00:00Z'),
  windowStartedAt: new Date('2026-01-01T00:00:00Z'),
  windowCount: 0,
  inflightPeak: 2,
  committedPeakMicros: 55_000,
};

describe('what commands answer', () => {
  it('shows a workspace with its money in cents and no limit as null', () => {
    expect(workspaceAnswer(workspace).document).toEqual({
      id: workspace.id,
      name: 'acme',
      enabled: true,
      visible: ['**'],
      runnable: [],
      markup: 1.2,
      credits_cents: null,
    });
    expect(workspaceAnswer({ ...workspace, balanceMicros: 15_000 }).text).toContain('credits    1.5 cents');
    expect(workspaceAnswer(workspace).text).toContain('runnable   none');
  });

  it('shows every allowance with what is taken of it', () => {
    expect(limitsAnswer(workspace).document).toEqual({
      workspace: 'acme',
      inflight: { limit: 5, current: 2 },
      committed_cents: { limit: 10_000, current: 5.5 },
      backlog: { limit: 1000, current: 3 },
      window: { limit: 600 },
      files: { limit: 1000 },
      file_bytes: { limit: 10_737_418_240 },
      credits_cents: { balance: null, held: 6 },
    });
  });

  it('names the place of a catalog problem only where there is one', () => {
    expect(problemLine({ file: 'a.yaml', pointer: '/price', reason: 'bad' })).toBe('a.yaml#/price: bad');
    expect(problemLine({ file: 'a.yaml', pointer: '', reason: 'not\n  readable\n' })).toBe(
      'a.yaml: not readable',
    );
  });
});

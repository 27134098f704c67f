import { expect, it } from '@jest/globals';
import { createLog } from '#observability';
import type { GatewaySettings } from '../settings.js';
import { LostAdmissions } from './lost-admissions.js';
import type { RunCancellation } from './run-cancellation.js';

it('a gateway that stops first withdraws what it owes: its database closes after that', async () => {
  const asked: string[] = [];
  const cancellation = {
    // The database is away at first.
    cancelRun: async (_workspaceId: string, _modelId: string, runId: string) => {
      if (asked.push(runId) < 3) throw new Error('away');
      return 'waiting';
    },
  } as unknown as RunCancellation;
  const settings = { DATABASE_STATEMENT_MS: 5_000 } as GatewaySettings;
  const lost = new LostAdmissions(cancellation, settings, createLog('gateway', 'silent'));
  void lost.withdrawRun('workspace', 'model', 'run');
  await lost.onApplicationShutdown();
  expect(asked).toEqual(['run', 'run', 'run']);
});

import { expect, it } from '@jest/globals';
import { createLog, Metrics } from '#observability';
import type { HeldRunRepository, RunRepository } from '#persistence';
import type { RunQueues, RunSignals } from '#queue';
import { RunCancellation } from './run-cancellation.js';

it('a stopping gateway withdraws its lost runs before its database closes', async () => {
  const attempts: string[] = [];
  const runs = {
    // The database does not answer at first.
    requestCancel: async (_workspaceId: string, _modelId: string, runId: string) => {
      if (attempts.push(runId) < 3) throw new Error('away');
      return { found: 'dispatched', isRepeated: true, granted: [] };
    },
  } as unknown as RunRepository;
  const cancellation = new RunCancellation(
    runs,
    {} as HeldRunRepository,
    { passOn: async () => {} } as unknown as RunQueues,
    {} as RunSignals,
    createLog('gateway', 'silent'),
    new Metrics(),
    { DATABASE_STATEMENT_MS: 5_000 },
  );
  void cancellation.withdrawRun('workspace', 'model', 'run');
  await cancellation.onApplicationShutdown();
  expect(attempts).toEqual(['run', 'run', 'run']);
});

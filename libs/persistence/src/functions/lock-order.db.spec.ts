import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { cancelled, holdWorkspace, TestProcess, testModel } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

type Verb = (process: TestProcess, workspaceId: string, runId: string) => Promise<unknown>;

const file = await SpecDatabase.create();
const one = file.process();
const other = file.process();

describe('workspaces are locked before their runs, so that no two functions deadlock', () => {
  it.each<[string, Verb]>([
    ['finish', (process, _workspaceId, runId) => process.finish(runId, 0, cancelled)],
    [
      'request_cancel',
      (process, workspaceId, runId) => process.runs.requestCancel(workspaceId, testModel, runId),
    ],
    ['release_held_run', (process, _workspaceId, runId) => process.heldRuns.releaseRun(runId, true)],
  ])('%s holds no run while it waits for a workspace', async (_name, verb) => {
    const { id } = await one.workspace();
    const runId = await one.run(id);
    const letGo = await holdWorkspace(file.url, id);
    const waiting = verb(one, id, runId);
    await waitFor(async () => (await other.waiting()) === 1, {
      withinMs: 60_000,
      what: 'the function to wait',
    });
    const rows = await other.sql('SELECT id FROM run WHERE id = $1 FOR UPDATE NOWAIT', [runId]);
    await letGo();
    await waiting;
    expect(rows).toEqual([{ id: runId }]);
    expect(await one.stageOf(runId)).toBe('completed');
  });
});

import { describe, expect, it } from '@jest/globals';
import { cents } from './testing/runs.js';
import { SpecDatabase } from './testing/spec-database.js';
import { UnknownWorkspace } from './sql-errors.js';
import type { WorkspaceLimits } from './workspace.repository.js';

const file = await SpecDatabase.create();
const process = file.process();
const workspaces = process.workspaces;

describe('a workspace', () => {
  it('has modest limits, unlimited credits and every model by default', async () => {
    expect(await workspaces.create('plain', {})).toMatchObject({
      name: 'plain',
      enabled: true,
      visible: ['**'],
      runnable: ['**'],
      inflightLimit: 20,
      committedLimitMicros: cents(10_000),
      backlogLimit: 1_000,
      windowLimit: 600,
      balanceMicros: null,
      inflight: 0,
      committedMicros: 0,
      heldMicros: 0,
      backlog: 0,
    });
  });

  it('is found by its name and by its id, and names are unique', async () => {
    const { id } = await workspaces.create('unique', {});
    expect(await workspaces.find('unique')).toMatchObject({ id });
    expect(await workspaces.find(id)).toMatchObject({ name: 'unique' });
    await expect(workspaces.create('unique', {})).rejects.toThrow('duplicate key');
    await expect(workspaces.find('nobody')).rejects.toThrow(UnknownWorkspace);
    await expect(workspaces.change('nobody', { inflightLimit: 1 }, 'test')).rejects.toThrow(UnknownWorkspace);
    await expect(workspaces.change('nobody', { addedMicros: 1, note: 'lost' }, 'test')).rejects.toThrow(
      UnknownWorkspace,
    );
  });
});

describe('limits of a workspace', () => {
  it('change one by one, without changing counters or credits', async () => {
    const { id, name } = await process.workspace({ balanceMicros: cents(50) });
    await process.run(id, { reservedMicros: cents(3) });
    const before = await workspaces.find(name);
    const counters = await process.counters(id);
    const changes: WorkspaceLimits[] = [
      { inflightLimit: 7 },
      { committedLimitMicros: cents(123) },
      { backlogLimit: 9 },
      { windowLimit: 11 },
      {},
    ];
    for (const change of changes) {
      Object.assign(before, change);
      const { workspace, granted } = await workspaces.change(name, change, 'test');
      expect(workspace).toEqual(before);
      expect(granted).toEqual([]);
    }
    expect(await process.counters(id)).toEqual(counters);
  });

  it.each<[WorkspaceLimits]>([
    [{ inflightLimit: -1 }],
    [{ committedLimitMicros: -1 }],
    [{ backlogLimit: -1 }],
    [{ windowLimit: -1 }],
  ])('are never negative: %j is rejected and changes nothing', async (limits) => {
    const { name } = await process.workspace();
    const before = await workspaces.find(name);
    await expect(workspaces.change(name, { inflightLimit: 3, ...limits }, 'test')).rejects.toThrow(
      'check constraint',
    );
    expect(await workspaces.find(name)).toEqual(before);
  });

  it('apply to the next admission, whether raised or lowered', async () => {
    const { id, name } = await process.workspace({ windowLimit: 0 });
    const answers: unknown[] = [];
    const changes: WorkspaceLimits[] = [
      { windowLimit: 1_000_000, inflightLimit: 0 },
      { inflightLimit: 1 },
      { inflightLimit: 2, committedLimitMicros: cents(1) },
      { committedLimitMicros: cents(2) },
      { committedLimitMicros: 0 },
    ];
    for (const change of [{}, ...changes]) {
      await workspaces.change(name, change, 'test');
      const answer = await process.admit(id, { mode: 'sync' });
      answers.push(answer.kind === 'refused' ? answer.limit : answer.kind);
    }
    expect(answers).toEqual(['window', 'inflight', 'admitted', 'spend', 'admitted', 'ceiling']);
  });
});

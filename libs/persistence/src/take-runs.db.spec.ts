import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openRunFixture } from './testing/run-fixture.js';

const fixture = await openRunFixture();
const nobody = new Map<string, number>();
const anyNumber = 1_000;

/** A provider of its own: the line of one test is nobody else's. */
const newProvider = (): string => `p${v7()}`;

/** Runs of the workspace that wait for a slot of the provider, oldest first. */
async function waitingRuns(provider: string, spaceId: string, count: number): Promise<string[]> {
  const runIds: string[] = [];
  for (let n = 0; n < count; n += 1) runIds.push(await fixture.first.run(spaceId, { provider }));
  for (const runId of runIds) await fixture.first.outbox.waitForSlot(runId);
  return runIds;
}

const take = (provider: string, held = nobody, { maxHeld = anyNumber, limit = 1, by = fixture.first } = {}) =>
  by.outbox.takeWaitingRuns(provider, held, { maxHeld, restMs: leaseMs, limit });

/** The ids of the runs that get slots one after the other, none of which is given back. */
async function taken(provider: string, count: number): Promise<(string | null)[]> {
  const held = new Map<string, number>();
  const runIds: (string | null)[] = [];
  for (let n = 0; n < count; n += 1) {
    const { runs } = await take(provider, held);
    for (const { workspaceId } of runs) held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1);
    runIds.push(runs[0]?.runId ?? null);
  }
  return runIds;
}

describe('the runs that wait for a slot of a provider', () => {
  it('are taken oldest first within a workspace, and each once', async () => {
    const provider = newProvider();
    const runIds = await waitingRuns(provider, await fixture.space(), 3);
    expect(await taken(provider, 4)).toEqual([...runIds, null]);
  });

  it('are taken by turns of workspaces, however many one of them has', async () => {
    const provider = newProvider();
    const crowd = await waitingRuns(provider, await fixture.space(), 5);
    const other = await waitingRuns(provider, await fixture.space(), 2);
    expect(await taken(provider, 7)).toEqual([
      crowd[0],
      other[0],
      crowd[1],
      other[1],
      crowd[2],
      crowd[3],
      crowd[4],
    ]);
  });

  it('stay where they are while their workspace holds as many slots as it may', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space();
    const [runId] = await waitingRuns(provider, spaceId, 1);
    const full = new Map([[spaceId, 2]]);
    expect(await take(provider, full, { maxHeld: 2 })).toMatchObject({ runs: [], othersWait: true });
    expect(await take(provider, full, { maxHeld: 3 })).toMatchObject({ runs: [{ runId }] });
    expect(await take(provider)).toMatchObject({ runs: [], othersWait: false });
  });

  it('get as many slots as are free at a time, by the same turns', async () => {
    const provider = newProvider();
    const [crowdId, otherId] = [await fixture.space(), await fixture.space()];
    const crowd = await waitingRuns(provider, crowdId, 5);
    const other = await waitingRuns(provider, otherId, 2);
    const held = new Map([[crowdId, 1]]);
    const first = await take(provider, held, { limit: 4, maxHeld: 3 });
    expect(first.runs.map(({ runId }) => runId)).toEqual([crowd[0], crowd[1], other[0], other[1]]);
    expect(first.runs.map(({ workspaceId }) => workspaceId)).toEqual([crowdId, crowdId, otherId, otherId]);
    const then = new Map([[crowdId, 3]]);
    const { runs } = await take(provider, then, { limit: 9, maxHeld: 4 });
    expect(runs.map(({ runId }) => runId)).toEqual([crowd[2]]);
    expect(await take(provider, nobody, { limit: 9 })).toMatchObject({
      runs: [{ runId: crowd[3] }, { runId: crowd[4] }],
    });
  });

  it('are shared out among workers, none of them twice', async () => {
    const provider = newProvider();
    const spaceIds = await Promise.all([fixture.space(), fixture.space()]);
    const runIds = (await Promise.all(spaceIds.map((id) => waitingRuns(provider, id, 10)))).flat();
    const takes = await Promise.all(
      Array.from({ length: 24 }, (_each, n) =>
        take(provider, nobody, { limit: 1 + (n % 3), by: n % 2 === 0 ? fixture.first : fixture.second }),
      ),
    );
    const got = takes.flatMap(({ runs }) => runs.map(({ runId }) => runId));
    expect(got.toSorted()).toEqual(runIds.toSorted());
  });

  it('are no run that was cancelled, submitted, or waits for another provider', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space();
    const [cancelled = '', submitted = ''] = await waitingRuns(provider, spaceId, 2);
    await waitingRuns(newProvider(), spaceId, 1);
    const [{ model } = { model: '' }] = await fixture.first.sql<{ model: string }>(
      'SELECT model FROM run WHERE id = $1',
      [cancelled],
    );
    await fixture.first.runs.requestCancel(spaceId, model, cancelled);
    await fixture.first.take(submitted, 'submitting');
    expect(await taken(provider, 1)).toEqual([null]);
  });

  it('name their providers, each once', async () => {
    const [one, two, none] = [newProvider(), newProvider(), newProvider()];
    const spaceId = await fixture.space();
    await waitingRuns(one, spaceId, 2);
    await waitingRuns(two, spaceId, 1);
    await fixture.first.run(spaceId, { provider: none });
    const awaited = await fixture.first.outbox.awaitedProviders();
    expect(awaited.filter((each) => [one, two, none].includes(each))).toEqual([one, two].toSorted());
  });

  it('fall due in the end when no worker takes them, and sooner when the one that took them died', async () => {
    const provider = newProvider();
    const [runId = ''] = await waitingRuns(provider, await fixture.space(), 1);
    expect(await fixture.overdueAt('50 seconds')).not.toContain(runId);
    await taken(provider, 1);
    expect(await fixture.overdueAt(`${leaseMs + 1_000} milliseconds`)).toContain(runId);
  });

  it('fall due after a minute', async () => {
    const [runId = ''] = await waitingRuns(newProvider(), await fixture.space(), 1);
    expect(await fixture.overdueAt('61 seconds')).toContain(runId);
  });
});

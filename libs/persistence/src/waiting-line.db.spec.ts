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
  for (const runId of runIds) await fixture.first.outbox.wait(runId);
  return runIds;
}

/** The ids of the runs that get slots one after the other, none of which is given back. */
async function taken(provider: string, count: number, maxHeld = anyNumber): Promise<(string | null)[]> {
  const held = new Map<string, number>();
  const runIds: (string | null)[] = [];
  for (let n = 0; n < count; n += 1) {
    const { run } = await fixture.first.outbox.takeWaiting(provider, held, maxHeld, leaseMs);
    if (run) held.set(run.workspaceId, (held.get(run.workspaceId) ?? 0) + 1);
    runIds.push(run?.runId ?? null);
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
    const { outbox } = fixture.first;
    expect(await outbox.takeWaiting(provider, full, 2, leaseMs)).toEqual({ run: null, othersWait: true });
    expect(await outbox.takeWaiting(provider, full, 3, leaseMs)).toMatchObject({ run: { runId } });
    expect(await outbox.takeWaiting(provider, nobody, 3, leaseMs)).toEqual({
      run: null,
      othersWait: false,
    });
  });

  it('are shared out among workers, none of them twice', async () => {
    const provider = newProvider();
    const spaceIds = await Promise.all([fixture.space(), fixture.space()]);
    const runIds = (await Promise.all(spaceIds.map((id) => waitingRuns(provider, id, 10)))).flat();
    const takes = await Promise.all(
      Array.from({ length: 24 }, (_each, n) =>
        (n % 2 === 0 ? fixture.first : fixture.second).outbox.takeWaiting(
          provider,
          nobody,
          anyNumber,
          leaseMs,
        ),
      ),
    );
    const got = takes.flatMap(({ run }) => (run ? [run.runId] : []));
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
    await fixture.first.runReader.requestCancel(spaceId, model, cancelled);
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

import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { offsetToSecond, type TestProcess } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

const windowLimit = 3;

/** The results of concurrent admissions, half of them on each gateway. */
async function crowd(gateways: TestProcess[], workspaceId: string, count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_each, index) => {
      const gateway = gateways[index % gateways.length] as TestProcess;
      return gateway.admit(workspaceId, { mode: index % 3 === 0 ? 'sync' : 'queued' });
    }),
  );
  return answers.map((each) => (each.kind === 'refused' ? each.limit : each.kind)).toSorted();
}

const exactly = (limit: number, of: number) => [
  ...Array.from({ length: limit }, () => 'admitted'),
  ...Array.from({ length: of - limit }, () => 'window'),
];

const file = await SpecDatabase.create();

describe('the limit of runs per minute', () => {
  const startMs = Number.parseFloat(offsetToSecond(0));
  /**
   * A process whose sessions are this many seconds into a minute of the database’s clock, the same minute for all.
   */
  const at = (second: number): TestProcess => file.process(`${startMs + second * 1000} milliseconds`);

  it('stays used until the minute of the database’s clock is over, and resets with the next', async () => {
    const { id } = await at(0).workspace({ windowLimit });
    for (const minute of [0, 1, 5]) {
      const gateways = [at(60 * minute), at(60 * minute)];
      expect(await crowd(gateways, id, 20)).toEqual(exactly(windowLimit, 20));
    }
    const minutes = await at(0).sql<{ runs: number }>(
      `SELECT count(*)::integer AS runs FROM run WHERE workspace_id = $1 GROUP BY date_trunc('minute', admitted_at)`,
      [id],
    );
    expect(minutes).toEqual(minutes.map(() => ({ runs: windowLimit })));
    expect(minutes).toHaveLength(3);
  });

  it('starts with full minutes, not with the first run', async () => {
    const late = at(-20);
    const { id } = await late.workspace({ windowLimit });
    expect(await crowd([late], id, 4)).toEqual(exactly(windowLimit, 4));
    expect(await crowd([at(0)], id, 4)).toEqual(exactly(windowLimit, 4));
  });

  it('does not reset for a clock that was set back', async () => {
    const [now, before] = [at(120), at(60)];
    const { id } = await now.workspace({ windowLimit });
    expect(await crowd([now], id, 2)).toEqual(['admitted', 'admitted']);
    expect(await crowd([before], id, 4)).toEqual(exactly(1, 4));
    expect(await crowd([now], id, 4)).toEqual(exactly(0, 4));
  });

  it('resets when a clock that was a day fast is corrected, and reports so', async () => {
    const [ahead, right] = [at(86_400), at(0)];
    const { id } = await ahead.workspace({ windowLimit });
    expect(await crowd([ahead], id, 4)).toEqual(exactly(windowLimit, 4));
    expect(await right.workspaces.standing(id)).toMatchObject({ windowCount: 0 });
    expect(await crowd([right], id, 4)).toEqual(exactly(windowLimit, 4));
    expect(await right.workspaces.standing(id)).toMatchObject({ windowCount: windowLimit });
  });

  it('is not used by refusals for another limit, nor restored by a run that ends', async () => {
    const gateway = at(0);
    const { id } = await gateway.workspace({ windowLimit: 2, inflightLimit: 1 });
    const first = await gateway.run(id, { mode: 'sync' });
    expect(await gateway.admit(id, { mode: 'sync' })).toMatchObject({ limit: 'inflight' });
    await gateway.runs.requestCancel(id, 'tested/model', first);
    const second = await gateway.run(id, { mode: 'sync' });
    await gateway.runs.requestCancel(id, 'tested/model', second);
    expect(await gateway.admit(id, { mode: 'sync' })).toMatchObject({ limit: 'window', windowLimit: 2 });
  });

  it('ignores the clocks of gateways', async () => {
    const { id } = await at(0).workspace({ windowLimit });
    const admitting = [-600, -5, 5, 600].map((seconds) =>
      at(0).admit(id, { runId: v7({ msecs: Date.now() + seconds * 1000 }) }),
    );
    const kinds = (await Promise.all(admitting)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['admitted', 'admitted', 'admitted', 'refused']);
  });
});

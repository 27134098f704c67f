import { describe, expect, it } from '@jest/globals';
import { openRunFixture } from '../testing/run-fixture.js';
import { type AdmissionFacts, cents, failed, succeeded } from '../testing/runs.js';

const fixture = await openRunFixture();
const { first, second } = fixture;

const pricedBy = (row: string, more: object = {}): AdmissionFacts => ({
  reservedMicros: cents(10),
  computedMicros: cents(10),
  runFacts: { price: { row, digest: 'd1' }, ...more },
});

/** Ends a run for which the provider reports that many cents. */
async function ended(facts: AdmissionFacts & { spaceId?: string }, reported: number, ending = succeeded) {
  const { runId, epoch } = await fixture.run('running', facts);
  const finished = await first.finish(runId, epoch, ending, cents(reported));
  return { runId, record: 'record' in finished ? finished.record : undefined };
}

const liftsOf = async (row: string) => (await first.overshoots.list()).filter(({ model }) => model === row);

describe('a report above the bound of a run', () => {
  it('is billed up to the bound, and the difference is written beside the run', async () => {
    const { runId, record } = await ended(pricedBy('a/written'), 25);
    expect(record).toMatchObject({
      billedMicros: cents(10),
      overshootMicros: cents(15),
      lostMicros: cents(15),
    });
    const { run, audit } = await fixture.written(runId);
    expect(run).toMatchObject({ overshoot_micros: cents(15) });
    expect(audit).toMatchObject({ billed_micros: cents(10), overshoot_micros: cents(15) });
    expect(await liftsOf('a/written')).toMatchObject([
      { price: 'd1', lift: 2.5, runs: 1, lostMicros: cents(15), runId },
    ]);
  });

  it('lifts the bounds of the next runs by the largest quotient, at most by four in total', async () => {
    const lifts: unknown[] = [];
    // The last runs were admitted with a lifted bound.
    for (const [reserved, lift, reported] of [
      [10, undefined, 12],
      [10, undefined, 30],
      [10, undefined, 11],
      [30, 3, 33],
      [33, 3.3, 99],
    ] as const) {
      const price = { row: 'a/lifted', digest: 'd1', ...(lift !== undefined && { lift }) };
      await ended({ reservedMicros: cents(reserved), runFacts: { price } }, reported);
      lifts.push((await liftsOf('a/lifted'))[0]?.lift);
    }
    expect(lifts.map((lift) => Number(Number(lift).toFixed(6)))).toEqual([1.2, 3, 3, 3.3, 4]);
    expect(await liftsOf('a/lifted')).toMatchObject([{ runs: 5, lostMicros: cents(2 + 20 + 1 + 3 + 66) }]);
  });

  it('counts for its price alone', async () => {
    await ended(pricedBy('a/changed'), 20);
    await ended({ ...pricedBy('a/changed'), runFacts: { price: { row: 'a/changed', digest: 'd2' } } }, 40);
    expect((await liftsOf('a/changed')).map(({ price, lift }) => `${price} ${lift}`).toSorted()).toEqual([
      'd1 2',
      'd2 4',
    ]);
  });

  it('is compared with the markup, which does not lift anything', async () => {
    const spaceId = await fixture.space({ markup: 2 });
    await ended({ ...pricedBy('a/markup'), spaceId }, 15);
    expect(await liftsOf('a/markup')).toMatchObject([{ lift: 1.5, lostMicros: cents(10) }]);
  });

  it.each([
    ['the simulator served the run', { simulated: true as const }, 30, succeeded],
    ['the workspace pays the provider', { ownKey: 'version' }, 30, succeeded],
    ['the run is not billed', {}, 30, failed('provider_error')],
    ['it is the bound', {}, 10, succeeded],
    ['it is below the bound', {}, 3, succeeded],
  ])('lifts nothing if %s', async (what, more, reported, ending) => {
    const row = `a/${what.replaceAll(' ', '-')}`;
    const spaceId = await fixture.space({ ownKeyFee: 1 });
    await ended({ ...pricedBy(row, more), spaceId }, reported, ending);
    expect(await liftsOf(row)).toEqual([]);
  });

  it('lifts nothing for a run of an earlier release, whose facts name no price', async () => {
    const { record } = await ended({ reservedMicros: cents(10) }, 30);
    expect(record).toMatchObject({ billedMicros: cents(10), overshootMicros: cents(20) });
  });

  it('of many runs at once adds up', async () => {
    const { id } = await first.workspace();
    const rows = ['a/many', 'a/more'];
    const runs = await Promise.all(
      Array.from({ length: 40 }, (_each, index) => first.run(id, pricedBy(rows[index % 2] ?? ''))),
    );
    await Promise.all(
      runs.map((runId, index) => (index % 3 ? first : second).finish(runId, 0, succeeded, cents(20))),
    );
    for (const row of rows)
      expect(await liftsOf(row)).toMatchObject([{ lift: 2, runs: 20, lostMicros: cents(200) }]);
  });

  it('is forgotten when an operator clears it, which is recorded', async () => {
    await ended(pricedBy('a/cleared'), 20);
    expect(await first.overshoots.clear('a/cleared', 'test')).toBe(1);
    expect(await liftsOf('a/cleared')).toEqual([]);
    expect(
      await first.sql(
        `SELECT actor FROM operator_action WHERE action = 'catalog.clear_overshoot' AND subject = $1`,
        ['a/cleared'],
      ),
    ).toEqual([{ actor: 'test' }]);
  });
});

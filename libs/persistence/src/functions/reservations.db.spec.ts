import { describe, expect, it } from '@jest/globals';
import { routerBudgetInput } from '#schemas';
import { openRunFixture } from '../testing/run-fixture.js';
import { cancelled, cents, failed, succeeded } from '../testing/runs.js';

const fixture = await openRunFixture();
const { first, second } = fixture;

const text = { reservedMicros: cents(100), likelyMicros: cents(10), computedMicros: cents(5) };

const sumsOf = async (spaceId: string) => {
  const [row] = await first.sql<{ held: number; excess: number; balance: number }>(
    `SELECT held_micros::float AS held, excess_micros::float AS excess, balance_micros::float AS balance
      FROM workspace WHERE id = $1`,
    [spaceId],
  );
  return row;
};

describe('a workspace that reserves what runs likely cost', () => {
  it('reserves that, and keeps the bound beside it', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(50) });
    const { runId } = await fixture.run('running', { ...text, spaceId });
    expect((await fixture.written(runId))['run']).toMatchObject({
      reserved_micros: cents(10),
      bound_micros: cents(100),
    });
    expect(await sumsOf(spaceId)).toEqual({ held: cents(10), excess: cents(90), balance: cents(50) });
  });

  it.each([
    ['above its reserve', 40, 40],
    ['up to its bound', 101, 100],
    ['below its reserve', 3, 3],
  ])('bills what was used, %s', async (_what, reported, billed) => {
    const spaceId = await fixture.space({ balanceMicros: cents(20) });
    await first.budgets.set(
      spaceId,
      'all',
      routerBudgetInput.parse({ window: 'total', limit_cents: 500 }),
      'test',
    );
    const { runId, epoch } = await fixture.run('running', { ...text, spaceId });
    await first.finish(runId, epoch, succeeded, cents(reported));
    expect(await sumsOf(spaceId)).toEqual({ held: 0, excess: 0, balance: cents(20 - billed) });
    const { ledger, audit } = await fixture.written(runId);
    expect(ledger).toMatchObject([{ amount_micros: -cents(billed), balance_micros: cents(20 - billed) }]);
    expect(audit).toMatchObject({ cost_micros: cents(10), billed_micros: cents(billed) });
    const [budget] = await first.budgets.list(spaceId);
    expect(budget).toMatchObject({ spentMicros: cents(billed), reservedMicros: 0 });
  });

  it('admits only free runs while its balance is below zero, and its admitted runs continue', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(20), inflightLimit: 1 });
    const { runId, epoch } = await fixture.run('running', { ...text, spaceId });
    const parked = await first.run(spaceId, text);
    await first.finish(runId, epoch, succeeded, cents(90));
    expect(await sumsOf(spaceId)).toMatchObject({ balance: -cents(70) });
    expect(await first.stageOf(parked)).toBe('ready');
    expect(await first.admit(spaceId, { reservedMicros: 1 })).toMatchObject({ limit: 'credits' });
    expect(await first.admit(spaceId, { ...text, likelyMicros: 0 })).toMatchObject({ limit: 'credits' });
    expect(await first.admit(spaceId, { reservedMicros: 0 })).toMatchObject({ kind: 'admitted' });
    // With its own key and without a fee, a run costs the workspace nothing here.
    const own = { ...text, runFacts: { ownKey: 'version' } };
    expect(await first.admit(spaceId, own)).toMatchObject({ kind: 'admitted' });
    await first.runTo(parked, succeeded);
    expect(await sumsOf(spaceId)).toMatchObject({ balance: -cents(75) });
  });

  it('says what a refused run needed, and what was there', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(50), overdraftLimitMicros: cents(70) });
    await first.run(spaceId, text);
    const there = { balanceMicros: cents(50), heldMicros: cents(10), excessMicros: cents(90) };
    expect(await first.admit(spaceId, text)).toMatchObject({
      limit: 'credits',
      costMicros: cents(10),
      boundMicros: cents(100),
      overdraftLimitMicros: cents(70),
      ...there,
    });
    expect(await first.admit(spaceId, { reservedMicros: cents(41) })).toMatchObject({
      costMicros: cents(41),
      ...there,
    });
  });

  it.each([cents(2000), cents(300), 0])(
    'never falls further below zero than the overdraft of %i, with a hundred runs at once that cost their bounds',
    async (overdraftLimitMicros) => {
      const spaceId = await fixture.space({
        balanceMicros: cents(200),
        overdraftLimitMicros,
        inflightLimit: 7,
      });
      const endings = [succeeded, succeeded, succeeded, cancelled, failed('provider_error')];
      const kinds = await Promise.all(
        Array.from({ length: 100 }, async (_each, index) => {
          const process = index % 2 ? first : second;
          const answer = await process.admit(spaceId, text);
          return answer.kind === 'admitted' ? (answer.ready ? 'ready' : 'parked') : answer.kind;
        }),
      );
      const count = (kind: string) => kinds.filter((each) => each === kind).length;
      // The reserves of twenty fit the balance. Their bounds must fit the overdraft, too.
      const fitting = Math.min(20, Math.floor((cents(200) + overdraftLimitMicros) / cents(100)));
      expect(count('ready') + count('parked')).toBe(fitting);
      expect(count('parked')).toBe(Math.max(0, fitting - 7));
      const lowest: number[] = [];
      const refused: unknown[] = [];
      for (let live = fitting; live > 0;) {
        const ready = await first.sql<{ id: string }>(
          `SELECT id FROM run WHERE workspace_id = $1 AND stage = 'ready'`,
          [spaceId],
        );
        live -= ready.length;
        expect(ready).not.toEqual([]);
        await Promise.all(
          ready.map(({ id }, index) =>
            (index % 2 ? first : second).finish(id, 0, endings[index % 5] ?? cancelled, cents(100)),
          ),
        );
        const sums = await sumsOf(spaceId);
        lowest.push(sums?.balance ?? NaN);
        // More runs ask meanwhile.
        if ((sums?.balance ?? 0) < 0) refused.push(await first.admit(spaceId, text));
      }
      expect(Math.min(...lowest)).toBeGreaterThanOrEqual(-overdraftLimitMicros);
      expect(Math.min(...lowest) < 0).toBe(overdraftLimitMicros > 0);
      expect(refused).toEqual(refused.map(() => expect.objectContaining({ limit: 'credits' })));
      const [sums] = await first.sql<object>(
        `SELECT sum(billed_micros)::float AS billed, $2 - sum(billed_micros)::float AS balance,
          $2 + (SELECT sum(amount_micros) FROM ledger_entry WHERE workspace_id = $1)::float AS ledger
        FROM audit_record WHERE workspace_id = $1`,
        [spaceId, cents(200)],
      );
      const { balance } = (await sumsOf(spaceId)) ?? {};
      expect(sums).toMatchObject({ balance, ledger: balance });
      expect(await sumsOf(spaceId)).toMatchObject({ held: 0, excess: 0 });
      expect(await first.outbox.drift()).toEqual([]);
    },
  );
});

describe('the bound is reserved', () => {
  it('in a workspace that reserves it', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(150), reservation: 'bound' });
    const { runId } = await fixture.run('running', { ...text, spaceId });
    expect((await fixture.written(runId))['run']).toMatchObject({
      reserved_micros: cents(100),
      bound_micros: null,
    });
    expect(await first.admit(spaceId, text)).toMatchObject({ limit: 'credits', costMicros: cents(100) });
  });

  it('by a run without a likely cost, as one of an earlier release', async () => {
    const spaceId = await fixture.space({ balanceMicros: cents(150) });
    const { runId, epoch } = await fixture.run('running', { reservedMicros: cents(100), spaceId });
    expect(await sumsOf(spaceId)).toMatchObject({ held: cents(100), excess: 0 });
    await first.finish(runId, epoch, succeeded, cents(120));
    expect(await sumsOf(spaceId)).toEqual({ held: 0, excess: 0, balance: cents(50) });
  });

  it('of live runs counts after the workspace has changed to it', async () => {
    const { id, name } = await first.workspace({ balanceMicros: cents(110), overdraftLimitMicros: 0 });
    await first.run(id, text);
    await first.workspaces.change(name, { reservation: 'bound' }, 'test');
    expect(await first.admit(id, { reservedMicros: cents(11) })).toMatchObject({ limit: 'credits' });
    expect(await first.admit(id, { reservedMicros: cents(10) })).toMatchObject({ kind: 'admitted' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { openRunFixture } from './testing/run-fixture.js';
import { cancelled, cents, failed, succeeded, testHandle } from './testing/runs.js';

const fixture = await openRunFixture();

const amounts = { reservedMicros: cents(30), computedMicros: cents(20) };

const written = async (runId: string) => {
  const { ledger, audit } = await fixture.written(runId);
  return { ledger, audit };
};

describe('the billed amount', () => {
  it.each([
    ['the computed price if no reply reports a cost', undefined, 20, 'flat'],
    ['the cost that the reply reports', cents(7) + 1, 7.0001, 'reported'],
    ['nothing, if the reply reports zero', 0, 0, 'reported'],
    ['never more than was reserved', cents(31), 30, 'reported'],
  ])('is %s', async (_what, reportedMicros, billed, basis) => {
    const { runId, epoch, spaceId } = await fixture.run('running', amounts);
    const finished = await fixture.first.finish(runId, epoch, succeeded, reportedMicros);
    expect(finished).toMatchObject({
      record: {
        billedMicros: cents(billed),
        basis,
        reservedMicros: cents(30),
        reportedMicros: reportedMicros ?? null,
      },
    });
    const { ledger, audit } = await written(runId);
    expect(audit).toMatchObject({ cost_micros: cents(30), billed_micros: cents(billed), basis });
    expect(ledger ?? []).toMatchObject(billed > 0 ? [{ amount_micros: -cents(billed), basis }] : []);
    expect(await fixture.counters(spaceId)).toMatchObject({ committed: 0, held: 0 });
  });

  it('is what the last reply reported, whichever worker read it', async () => {
    const { runId, epoch } = await fixture.run('submitting', amounts);
    const { first, second } = fixture;
    await first.runs.saveHandle(runId, epoch, testHandle, 0, cents(3));
    expect(await second.runs.readForPoll(runId)).toMatchObject({ reportedMicros: cents(3) });
    await second.runs.saveHandle(runId, epoch, testHandle, 0);
    await second.runs.keepOutput(runId, epoch, 'application/json', Buffer.from('{}'), cents(4));
    expect(await first.finish(runId, epoch, succeeded)).toMatchObject({
      record: { billedMicros: cents(4), basis: 'reported' },
    });
  });

  it.each([
    ['a failure that the provider charges', failed('content_policy_violation', true), 7, 'reported'],
    ['another failure', failed('provider_error'), 0, null],
    ['a cancellation', cancelled, 0, null],
  ])('of %s follows its outcome', async (_what, ending, billed, basis) => {
    const { runId, epoch } = await fixture.run('running', amounts);
    await fixture.first.finish(runId, epoch, ending, cents(7));
    expect((await written(runId)).audit).toMatchObject({ billed_micros: cents(billed), basis });
  });
});

describe('the markup of a workspace', () => {
  it.each([
    ['the computed price', undefined, 24, 24],
    ['the reported cost', cents(7) + 1, 8.4002, 8.4002],
    ['up to the reserved amount', cents(31), 36, 37.2],
  ])('multiplies %s', async (_what, reportedMicros, billed, ours) => {
    const spaceId = await fixture.space({ markup: 1.2, balanceMicros: cents(100) });
    const { runId, epoch } = await fixture.run('running', { ...amounts, spaceId });
    expect(await fixture.counters(spaceId)).toMatchObject({ committed: cents(36), held: cents(36) });
    const finished = await fixture.first.finish(runId, epoch, succeeded, reportedMicros);
    expect(finished).toMatchObject({
      record: {
        billedMicros: cents(billed),
        reservedMicros: cents(36),
        reportedMicros: reportedMicros === undefined ? null : Math.ceil(cents(ours)),
      },
    });
    expect(await fixture.counters(spaceId)).toMatchObject({ balance: cents(100 - billed), held: 0 });
  });

  it('is fixed at the admission', async () => {
    const spaceId = await fixture.space({ markup: 1.2 });
    const { runId, epoch } = await fixture.run('running', { ...amounts, spaceId });
    await fixture.first.workspaces.change(spaceId, { markup: 3 }, 'test');
    const finished = await fixture.first.finish(runId, epoch, succeeded, cents(10));
    expect(finished).toMatchObject({ record: { billedMicros: cents(12) } });
  });

  it('may be zero', async () => {
    const spaceId = await fixture.space({ markup: 0 });
    const { runId, epoch } = await fixture.run('running', { ...amounts, spaceId });
    const finished = await fixture.first.finish(runId, epoch, succeeded, cents(10));
    expect(finished).toMatchObject({ record: { billedMicros: 0, reportedMicros: 0, reservedMicros: 0 } });
  });
});

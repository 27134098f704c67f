import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { CallRepository } from './call.repository.js';
import { planOf } from './testing/plan.js';
import { openRunFixture } from './testing/run-fixture.js';
import { succeeded } from './testing/runs.js';

const fixture = await openRunFixture();
const { first: gateway } = fixture;
const calls = new CallRepository(gateway.database);

describe('a run is found by the id of the call that admitted it', () => {
  it('while it is live, when it has ended, and when its result has aged out', async () => {
    const requestId = v7();
    const { runId, spaceId, epoch } = await fixture.run('running', { requestId });
    expect(await calls.runOf(requestId, spaceId)).toBe(runId);
    await gateway.finish(runId, epoch, succeeded);
    expect(await calls.runOf(requestId, spaceId)).toBe(runId);
    await fixture.at('4 days').retention.ageOut();
    expect(await gateway.stageOf(runId)).toBeUndefined();
    expect(await calls.runOf(requestId, spaceId)).toBe(runId);
    expect(await calls.runOf(requestId)).toBe(runId);
  });

  it('although its body took ten minutes to arrive', async () => {
    const requestId = v7({ msecs: Date.now() - 600_000 });
    const { runId, spaceId } = await fixture.run('running', { requestId });
    expect(await calls.runOf(requestId, spaceId)).toBe(runId);
  });

  it('and by no other id', async () => {
    const { spaceId } = await fixture.run('running');
    for (const id of [v7(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])
      expect(await calls.runOf(id, spaceId)).toBeNull();
  });
});

describe('a run is found by the id of a call that joined it', () => {
  it('for its last twenty calls', async () => {
    const { runId, spaceId } = await fixture.run('running');
    const joined = Array.from({ length: 23 }, () => v7());
    for (const callId of joined) await calls.noteJoin(spaceId, runId, callId);
    const found: (string | null)[] = [];
    for (const callId of joined) found.push(await calls.runOf(callId, spaceId));
    expect(found).toEqual([null, null, null, ...Array<string>(20).fill(runId)]);
    expect(await calls.runOf(joined[22] ?? '')).toBe(runId);
  });

  it('as long as the run is remembered', async () => {
    const { runId, spaceId } = await fixture.run('completed');
    const live = await fixture.run('running');
    const [callId, callOfLive] = [v7(), v7()];
    await calls.noteJoin(spaceId, runId, callId);
    await calls.noteJoin(live.spaceId, live.runId, callOfLive);
    await fixture.at('4 days').retention.ageOut();
    await fixture.at('190 hours').retention.deleteOld('joined_call');
    expect(await calls.runOf(callId, spaceId)).toBe(runId);
    const later = fixture.at('194 hours').retention;
    expect(await later.deleteOld('joined_call')).toBeGreaterThan(0);
    expect(await calls.runOf(callId, spaceId)).toBeNull();
    expect(await calls.runOf(callOfLive, live.spaceId)).toBe(live.runId);
  });
});

it('another workspace finds nothing by the id of a call', async () => {
  const stranger = await fixture.space();
  const [ofLive, ofEnded, ofJoined] = [v7(), v7(), v7()];
  const { runId, spaceId } = await fixture.run('running', { requestId: ofLive });
  await fixture.run('completed', { requestId: ofEnded });
  await calls.noteJoin(spaceId, runId, ofJoined);
  for (const callId of [ofLive, ofEnded, ofJoined]) {
    expect(await calls.runOf(callId, stranger)).toBeNull();
    expect(await calls.runOf(callId)).not.toBeNull();
  }
});

it('no lookup reads a whole table', async () => {
  const spaceId = await fixture.space();
  await gateway.sql(
    `INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, status,
       caller_left, admitted_at, completed_at, cost_micros, billed_micros)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 'token:x', 'a/b', 'a', 'POST', 'succeeded', 200, false, router_now(),
       router_now(), 1, 0 FROM generate_series(1, 20000)`,
    [spaceId],
  );
  await gateway.sql(
    `INSERT INTO joined_call (workspace_id, call_id, run_id)
     SELECT $1, gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 20000)`,
    [spaceId],
  );
  await gateway.sql('ANALYZE audit_record');
  await gateway.sql('ANALYZE joined_call');
  const callId = v7();
  const reads = [
    (given: CallRepository) => given.runOf(callId, spaceId),
    (given: CallRepository) => given.runOf(callId),
    (given: CallRepository) => given.noteJoin(spaceId, v7(), callId),
  ];
  for (const read of reads) {
    const plan = await planOf(gateway, (database) => read(new CallRepository(database)));
    const text = plan.map(({ node }) => node).join('\n');
    expect(text).not.toMatch(/Seq Scan on (joined_call|audit_record|outbox|run)/);
    expect(plan.filter(({ node, rows }) => node.includes('Scan') && rows > 20)).toEqual([]);
  }
});

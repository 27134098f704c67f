import { describe, expect, it } from '@jest/globals';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

const path = '/v2/models/bfl/flux-2-pro';

const keyed = (caller: TestCaller, key: string, body: string, gateway?: number) =>
  caller.call('POST', path, {
    body,
    headers: { 'idempotency-key': key },
    ...(gateway !== undefined && { gateway }),
  });

// Calls that reach their deadline: test/faults/sync-bound.spec.ts.
describe.each(transports())('a synchronous run on %s', (transport) => {
  const system = sharedSystem(transport);

  const accepted = (tag: string) => system.provider.accepted(tag);
  const submitted = (tag: string, runs = 1) =>
    waitFor(async () => (await accepted(tag)) === runs, { withinMs: 60_000, what: `${tag} at the provider` });

  it('answers with the provider’s own bytes and content type', async () => {
    const caller = await system.caller();
    const answer = await caller.call('POST', path, { body: '{"prompt":"sync"}' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json()).toMatchObject({ status: 'Ready' });
    const [run] = await system.sql<{ id: string }>('SELECT id FROM run WHERE workspace_id = $1', [
      caller.workspaceId,
    ]);
    expect((await system.payload(run?.id ?? '', 'output'))?.equals(answer.bytes)).toBe(true);
  });

  it('answers a failure as its bucket', async () => {
    const caller = await system.caller();
    const refused = await caller.call('POST', path, { body: '{"prompt":"[[sim:policy_output]]"}' });
    expect([refused.status, refused.bucket]).toEqual([400, 'content_policy_violation']);
    const rejected = await caller.call('POST', '/v2/models/fal/flux-dev', {
      body: '{"prompt":"[[sim:field_error]]"}',
    });
    expect([rejected.status, rejected.bucket]).toEqual([422, 'invalid_input']);
    expect(rejected.json()['detail']).toEqual([
      expect.objectContaining({ loc: expect.arrayContaining(['body']) }),
    ]);
  });

  it('sent 100 times at once with one key to two gateways is submitted once and answered 100 times alike', async () => {
    const caller = await system.caller();
    const tag = newTag('crowd');
    const body = `{"prompt":"[[sim:tag=${tag}]] ${unending}"}`;
    const answering = Promise.all(
      Array.from({ length: 100 }, (_, index) => keyed(caller, 'crowd', body, index % 2)),
    );
    await submitted(tag);
    await system.provider.finish(tag);
    const answers = await answering;
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => answer.bytes.toString())).size).toBe(1);
    expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(await accepted(tag)).toBe(1);
  });

  it('repeats a recorded failure with the header that says so', async () => {
    const caller = await system.caller();
    const call = () => keyed(caller, 'refused', '{"prompt":"[[sim:policy_output]] again"}');
    const first = await call();
    expect([first.status, first.headers.has('idempotent-replayed')]).toEqual([400, false]);
    const second = await call();
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
    expect(second.bytes.equals(first.bytes)).toBe(true);
  });

  it('continues after its caller disconnects, is billed, and records that', async () => {
    const leaving = await system.caller();
    const tag = newTag('left');
    const body = `{"prompt":"[[sim:tag=${tag}]] ${unending}"}`;
    const controller = new AbortController();
    const gone = fetch(`${system.gateways[0]?.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': leaving.key, 'content-type': 'application/json', 'idempotency-key': 'left' },
      body,
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await submitted(tag);
    controller.abort();
    await gone;
    const noticed = async () => {
      const left = `SELECT 1 FROM run WHERE workspace_id = $1 AND caller_left_at IS NOT NULL`;
      return (await system.sql(left, [leaving.workspaceId])).length === 1;
    };
    await waitFor(noticed, { withinMs: 60_000, what: 'the gateway to notice the disconnect' });
    await system.provider.finish(tag);
    expect((await keyed(leaving, 'left', body)).status).toBe(200);
    expect(await accepted(tag)).toBe(1);
    const [record] = await system.sql<{ caller_left: boolean; billed: string }>(
      'SELECT caller_left, billed_micros AS billed FROM audit_record WHERE workspace_id = $1',
      [leaving.workspaceId],
    );
    expect(record?.caller_left).toBe(true);
    expect(Number(record?.billed)).toBeGreaterThan(0);
  });

  it('above the limit is rejected with 429, exactly', async () => {
    const narrow = await system.caller({ inflightLimit: 3 });
    const tag = newTag('narrow');
    let answered = 0;
    const answering = Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const body = JSON.stringify({ prompt: `${index} [[sim:tag=${tag}]] ${unending}` });
        const answer = await narrow.call('POST', path, { body });
        answered += 1;
        return answer;
      }),
    );
    await waitFor(() => answered >= 37, { withinMs: 60_000, what: 'the refusals' });
    await submitted(tag, 3);
    await system.provider.finish(tag);
    const answers = await answering;
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
    expect(
      answers.filter((answer) => answer.status === 429 && answer.bucket === 'concurrency_limit_exceeded'),
    ).toHaveLength(37);
    expect(await system.provider.peaks(tag)).toMatchObject({ accepted: 3, peak: 3 });
  });
});

failOnLeftovers();

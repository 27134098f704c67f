import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, sha256, transports } from '../harness/index.js';
import { roomy } from './crowd.js';

const model = 'bfl/flux-2-pro';
const path = `/v2/models/${model}/requests`;

describe.each(transports())('one Idempotency-Key on two gateways, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    const env = { PUBLIC_BASE_URL: 'https://router.example.com' };
    system = await System.start({ transport, gateways: 2, workers: 2, env });
  });
  afterAll(() => system.stop());

  it('used 100 times at once creates one run and returns 100 equal handles', async () => {
    const caller = await system.caller(roomy);
    const body = `{"prompt":"a hundred on ${transport}"}`;
    const headers = { 'idempotency-key': 'hundred' };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_each, index) =>
        caller.call('POST', path, { body, headers, gateway: index % 2 }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => answer.bytes.toString())).size).toBe(1);
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(99);
    await caller.completed({ requestId: String(answers[0]?.json()['request_id']), model, body });
    expect(await runsOf(caller.workspaceId)).toBe(1);
    expect(await accepted(body)).toBe(1);
    await holdToInvariants(system);
  });

  it('used by calls that are rejected together rejects them all for the same reason, and is free again', async () => {
    const caller = await system.caller({ ...roomy, windowLimit: 0 });
    const body = `{"prompt":"refused on ${transport}"}`;
    const headers = { 'idempotency-key': 'refused' };
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_each, index) =>
        caller.call('POST', path, { body, headers, gateway: index % 2 }),
      ),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.bucket}`))).toEqual(
      new Set(['429 rate_limited']),
    );
    await system.operate((workspaces) => workspaces.change(caller.workspace, { windowLimit: 10 }, 'test'));
    const run = await caller.submit(model, body, { headers });
    await caller.completed(run);
    expect(await runsOf(caller.workspaceId)).toBe(1);
    await holdToInvariants(system);
  });

  it('answers 409 to any other request, which is not dispatched and changes nothing', async () => {
    const caller = await system.caller();
    const body = `{"prompt":"the original on ${transport}"}`;
    const other = `{"prompt":"another on ${transport}"}`;
    const headers = { 'idempotency-key': 'mine' };
    const first = await caller.call('POST', path, { body, headers });
    const requestId = String(first.json()['request_id']);
    const conflicts = [
      [path, other],
      [path, `${body} `],
      [`${path}?a=1`, body],
      ['/v2/models/bfl/flux-2-flex/requests', body],
      ['/v2/models/fal/flux-dev/requests', body],
    ] as const;
    for (const [path, body] of conflicts) {
      for (const gateway of [0, 1]) {
        const answer = await caller.call('POST', path, { body, headers, gateway });
        expect([path, answer.status, answer.bucket]).toEqual([path, 409, 'invalid_input']);
      }
    }
    await caller.completed({ requestId, model, body });
    const late = await caller.call('POST', path, { body: other, headers });
    expect([late.status, late.bucket]).toEqual([409, 'invalid_input']);

    expect(await runsOf(caller.workspaceId)).toBe(1);
    expect(await accepted(other)).toBe(0);
    expect(await accepted(body)).toBe(1);
    expect((await caller.collect({ requestId, model, body })).status).toBe(200);
    const again = await caller.call('POST', path, { body, headers });
    expect(again.bytes.equals(first.bytes)).toBe(true);
    await holdToInvariants(system);
  });

  it('is independent of the same key in another workspace', async () => {
    const body = `{"prompt":"two workspaces on ${transport}"}`;
    const headers = { 'idempotency-key': 'shared' };
    const [one, other] = await Promise.all([system.caller(), system.caller()]);
    const runs = await Promise.all([one, other].map((caller) => caller.submit(model, body, { headers })));
    expect(runs[0]?.requestId).not.toBe(runs[1]?.requestId);
    await Promise.all(
      [one, other].map((caller, index) => caller.completed(runs[index] ?? { requestId: '', model, body })),
    );
    expect(await accepted(body)).toBe(2);
    await holdToInvariants(system);
  });

  async function runsOf(workspaceId: string): Promise<number> {
    const [row] = await system.sql<{ runs: number }>(
      'SELECT count(*)::integer AS runs FROM run WHERE workspace_id = $1',
      [workspaceId],
    );
    return row?.runs ?? 0;
  }

  async function accepted(body: string): Promise<number> {
    const digest = sha256(body);
    return (await system.provider.ledger()).filter((entry) => entry.bodySha256 === digest).length;
  }
});

failOnLeftovers();

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RouterQueueStatusResponse } from '#schemas';
import { routerRunCompleted, routerWebhookTest } from '../../libs/schemas/src/webhook.js';
import {
  failOnLeftovers,
  newTag,
  Receiver,
  sharedSystem,
  transports,
  unending,
  verified,
  waitFor,
} from '../harness/index.js';

describe.each(transports())('webhooks on %s', (transport) => {
  const system = sharedSystem(transport);
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.start((call, response, nth) => {
      if (call.path === '/fails-once' && nth === 1) return void response.writeHead(500).end();
      if (call.path === '/says-no') return void response.writeHead(500).end('<script>alert(1)</script>');
      if (call.path === '/moved') return void response.writeHead(302, { location: receiver.url }).end();
      response.writeHead(204).end();
    });
  });
  afterAll(() => receiver.stop());

  const asked = (path: string, name = 'webhook_url') => `?${name}=${encodeURIComponent(receiver.url + path)}`;
  const row = async (runId: string) =>
    (
      await system.sql<{ tries: number; delivered: boolean; ended: boolean; problem: string | null }>(
        `SELECT tries, delivered, ended_at IS NOT NULL AS ended, problem FROM webhook WHERE run_id = $1`,
        [runId],
      )
    )[0];

  it.concurrent('report a success once, signed, with the status as the body', async () => {
    const caller = await system.caller();
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"a webhook"}', { query: asked('/success') });
    const event = await receiver.signed('/success', await system.webhookSecrets(caller));
    expect(routerRunCompleted.parse(event)).toEqual(event);
    expect(event).toMatchObject({
      type: 'run.completed',
      data: { request_id: run.requestId, status: 'COMPLETED' },
    });
    const told = event['data'] as RouterQueueStatusResponse;
    expect((await caller.call('GET', told.status_url)).json()).toEqual(told);
    expect(receiver.to('/success')[0]?.headers).toMatchObject({
      'webhook-id': run.requestId,
      'content-type': 'application/json',
    });
    await waitFor(async () => (await row(run.requestId))?.ended, {
      withinMs: 10_000,
      what: 'the webhook to be delivered',
    });
    expect(await row(run.requestId)).toMatchObject({ tries: 1, delivered: true });
    expect(receiver.to('/success').length).toBe(1);
  });

  it.concurrent('report a failure, and a cancellation before the dispatch', async () => {
    const caller = await system.caller({ inflightLimit: 1 });
    const failed = await caller.submit('bfl/flux-2-pro', '{"prompt":"[[sim:job_failed]]"}', {
      query: asked('/failure'),
    });
    const secrets = await system.webhookSecrets(caller);
    expect(await receiver.signed('/failure', secrets)).toMatchObject({
      data: { request_id: failed.requestId, status: 'COMPLETED', error_type: 'provider_error' },
    });
    const ahead = newTag('ahead');
    const first = await caller.submit('fal/flux-dev', `{"prompt":"[[sim:tag=${ahead}]] ${unending}"}`);
    const parked = await caller.submit('bfl/flux-2-pro', '{"prompt":"parked"}', {
      query: asked('/cancelled'),
    });
    await caller.cancel(parked);
    expect(await receiver.signed('/cancelled', secrets)).toMatchObject({
      data: { request_id: parked.requestId, error_type: 'client_disconnected' },
    });
    await caller.cancel(first);
    await caller.completed(first);
  });

  it.concurrent('are retried after a failure, and a redirect is a failure', async () => {
    const caller = await system.caller();
    const failing = await caller.submit('bfl/flux-2-pro', '{"prompt":"again"}', {
      query: asked('/fails-once'),
    });
    const moved = await caller.submit('bfl/flux-2-pro', '{"prompt":"moved"}', { query: asked('/moved') });
    await waitFor(async () => (await row(moved.requestId))?.tries === 1, {
      withinMs: 30_000,
      what: 'the first attempt',
    });
    expect(await row(moved.requestId)).toMatchObject({ ended: false, problem: 'answered HTTP 302' });
    expect(receiver.to('/').length).toBe(0);
    await waitFor(async () => (await row(failing.requestId))?.tries === 1, {
      withinMs: 30_000,
      what: 'the first attempt',
    });
    // The pause before the second attempt is ten seconds.
    await system.sql(`UPDATE webhook SET due_at = now() WHERE run_id = $1`, [failing.requestId]);
    await waitFor(async () => (await row(failing.requestId))?.delivered, {
      withinMs: 30_000,
      what: 'the second attempt',
    });
    const secrets = await system.webhookSecrets(caller);
    const [first, second, ...others] = receiver.to('/fails-once');
    expect(others).toEqual([]);
    expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id']);
    for (const call of [first, second]) if (call) verified(call, secrets);
    expect(await row(failing.requestId)).toMatchObject({ tries: 2, problem: 'answered HTTP 500' });
  });

  it.concurrent('are tested with one signed event, whose answer is shown as it arrived', async () => {
    const caller = await system.caller({}, undefined, ['requests', 'manage']);
    const test = async (path: string) => {
      const body = JSON.stringify({ url: receiver.url + path });
      const { request_id: id } = (await caller.call('POST', '/v2/webhooks/test', { body })).json();
      return waitFor(
        async () => {
          const delivery = (await caller.call('GET', `/v2/webhooks/deliveries/${String(id)}`)).json();
          return delivery['state'] === 'pending' ? undefined : delivery;
        },
        { withinMs: 30_000, what: 'the test event' },
      );
    };
    const refused = await test('/says-no');
    expect(refused).toMatchObject({ test: true, state: 'given_up', tries: 1 });
    expect(refused['attempts']).toEqual([
      {
        at: expect.any(String),
        duration_ms: expect.any(Number),
        status: 500,
        problem: 'answered HTTP 500',
        response: '<script>alert(1)</script>',
      },
    ]);
    const event = await receiver.signed('/says-no', await system.webhookSecrets(caller));
    expect(routerWebhookTest.parse(event)).toEqual(event);
    expect(JSON.parse(String(refused['payload']))).toEqual(event);
    expect(receiver.to('/says-no')).toHaveLength(1);
    expect(await test('/says-yes')).toMatchObject({ state: 'delivered', attempts: [{ status: 204 }] });
  });

  it.concurrent('are signed with both secrets while the secret rotates', async () => {
    const caller = await system.caller();
    const [before = ''] = await system.webhookSecrets(caller);
    await system.operate((all) => all.rotateWebhookSecret(caller.workspace));
    const [after = ''] = await system.webhookSecrets(caller);
    expect(after).not.toBe(before);
    await caller.submit('bfl/flux-2-pro', '{"prompt":"rotating"}', { query: asked('/rotated') });
    await receiver.signed('/rotated', [before]);
    await receiver.signed('/rotated', [after]);
  });

  it.concurrent('in fal’s form contain the unchanged bytes of the output, or the error', async () => {
    const caller = await system.caller();
    const run = await caller.submit('fal/flux-dev', '{"prompt":"fal"}', {
      query: asked('/fal', 'fal_webhook'),
    });
    const secrets = await system.webhookSecrets(caller);
    const event = await receiver.signed('/fal', secrets);
    expect(event).toMatchObject({
      request_id: run.requestId,
      gateway_request_id: run.requestId,
      status: 'OK',
      error: null,
    });
    const result = await caller.collect(run);
    expect(receiver.to('/fal')[0]?.text.endsWith(`"payload":${result.bytes.toString()}}`)).toBe(true);

    const failing = await caller.submit('fal/flux-dev', '{"prompt":"[[sim:job_failed]]"}', {
      query: asked('/fal-error', 'fal_webhook'),
    });
    expect(await receiver.signed('/fal-error', secrets)).toMatchObject({
      request_id: failing.requestId,
      status: 'ERROR',
      error: expect.stringMatching(/^Invalid status code: \d{3}$/),
      payload: { detail: expect.anything() },
    });
  });
});

failOnLeftovers();

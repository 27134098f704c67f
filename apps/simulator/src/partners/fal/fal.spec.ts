import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { call, startWithCaller, type Caller } from '../../testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller()));
beforeEach(async () => void (await caller.admin('/reset', {})));
afterAll(() => caller.simulator.close());

async function submit(prompt: string, more: object = {}) {
  const { json } = await caller.fal({ prompt, ...more });
  return {
    status: () => caller.falCall(json['status_url']),
    response: () => caller.falCall(json['response_url']),
    cancel: () => caller.falCall(json['cancel_url'], 'PUT'),
  };
}

describe('fal', () => {
  it('answers a submission with URLs that carry owner and app only', async () => {
    const { status, json } = await caller.fal({ prompt: 'a cat' });
    const base = `${caller.simulator.api}/fal/fal-ai/flux/requests/${String(json['request_id'])}`;
    expect(status).toBe(200);
    expect(json).toEqual({
      status: 'IN_QUEUE',
      request_id: json['request_id'],
      response_url: base,
      status_url: `${base}/status`,
      cancel_url: `${base}/cancel`,
      queue_position: 0,
    });
    expect(await caller.entries()).toMatchObject([
      { model: 'fal-ai/flux/dev', path: '/fal/fal-ai/flux/dev' },
    ]);
  });

  it('goes through queue and runner to a result with files on the other host', async () => {
    const run = await submit('a cat [[sim:queued=1000]]', { num_images: 2, seed: 42 });
    expect(await run.status()).toMatchObject({
      status: 202,
      json: { status: 'IN_QUEUE', queue_position: 0 },
    });
    await caller.advance(1000);
    expect(await run.status()).toMatchObject({ status: 202, json: { status: 'IN_PROGRESS', logs: [] } });
    expect(await run.response()).toMatchObject({
      status: 400,
      json: { detail: 'Request is still in progress' },
    });
    await caller.advance(600);
    const done = await run.status();
    expect(done).toMatchObject({
      status: 200,
      json: { status: 'COMPLETED', metrics: { inference_time: 0.6 } },
    });
    expect(done.json).not.toHaveProperty('error');
    const { status, json } = await run.response();
    expect(status).toBe(200);
    expect(json).toMatchObject({ seed: 42, has_nsfw_concepts: [false, false], timings: { inference: 0.6 } });
    const images = json['images'] as { url: string; width: number; height: number }[];
    expect(images).toHaveLength(2);
    for (const image of images) {
      expect(image.url.startsWith(`${caller.simulator.assets}/fal/files/`)).toBe(true);
      const { width, height } = PNG.sync.read(Buffer.from(await (await fetch(image.url)).arrayBuffer()));
      expect({ width, height }).toEqual({ width: image.width, height: image.height });
    }
  });

  it('removes a queued request at once', async () => {
    const run = await submit('[[sim:queued=5000]]');
    expect(await run.cancel()).toMatchObject({ status: 200, json: { status: 'OK' } });
    expect(await run.status()).toMatchObject({
      status: 200,
      json: { status: 'COMPLETED', error_type: 'client_cancelled' },
    });
    const response = await run.response();
    expect(response).toMatchObject({ status: 499, json: { error_type: 'client_cancelled' } });
    expect(response.headers.get('x-fal-error-type')).toBe('client_cancelled');
    const [entry] = await caller.entries();
    expect(entry).toMatchObject({ state: 'canceled', cancelAskedAtMs: expect.any(Number) });
  });

  it('cancels a running request by asking', async () => {
    const run = await submit('[[sim:takes=5000]]');
    expect(await run.cancel()).toMatchObject({ status: 202, json: { status: 'CANCELLATION_REQUESTED' } });
    expect((await run.status()).json).toMatchObject({ error_type: 'client_cancelled' });
  });

  it('may ignore the ask, or claim to be done', async () => {
    const ignoring = await submit('[[sim:takes=5000]][[sim:cancel_ignored]]');
    expect((await ignoring.cancel()).status).toBe(202);
    const late = await submit('[[sim:takes=5000]][[sim:cancel_too_late]]');
    expect(await late.cancel()).toMatchObject({ status: 400, json: { status: 'ALREADY_COMPLETED' } });
    await caller.advance(5000);
    expect((await ignoring.response()).status).toBe(200);
    expect((await late.response()).status).toBe(200);
    expect(await caller.entries()).toMatchObject([
      { state: 'succeeded', cancelAskedAtMs: expect.any(Number), canceledAtMs: null },
      { state: 'succeeded', cancelAskedAtMs: expect.any(Number), canceledAtMs: null },
    ]);
  });

  it('cancels nothing that is over or unknown', async () => {
    const run = await submit('a');
    await caller.advance(600);
    expect(await run.cancel()).toMatchObject({ status: 400, json: { status: 'ALREADY_COMPLETED' } });
    const unknown = await caller.falCall(`${caller.simulator.api}/fal/fal-ai/flux/requests/x/cancel`, 'PUT');
    expect(unknown).toMatchObject({ status: 404, json: { status: 'NOT_FOUND' } });
  });

  it.each([
    ['[[sim:policy_output]]', 422, 'content_policy_violation'],
    ['[[sim:field_output]]', 422, 'image_too_small'],
  ])('ends %s with the model’s own %i', async (prompt, status, type) => {
    const run = await submit(prompt);
    await caller.advance(600);
    expect((await run.status()).status).toBe(200);
    expect(await run.response()).toMatchObject({
      status,
      json: { detail: [{ type, url: `https://docs.fal.ai/errors#${type}` }] },
    });
  });

  it('reports a failed runner in status and result', async () => {
    const run = await submit('[[sim:job_failed]]');
    await caller.advance(600);
    expect((await run.status()).json).toMatchObject({
      status: 'COMPLETED',
      error_type: 'runner_server_error',
    });
    const response = await run.response();
    expect(response.status).toBe(500);
    expect(response.headers.get('x-fal-error-type')).toBe('runner_server_error');
  });

  it('refuses a policy violation at submission without accepting it', async () => {
    const { status, json } = await caller.fal({ prompt: '[[sim:policy_submit]]' });
    expect(status).toBe(422);
    expect(json).toMatchObject({ detail: [{ type: 'content_policy_violation' }] });
    expect(await caller.entries()).toEqual([]);
  });

  it('succeeds softly refused, or without an image', async () => {
    const runs = [await submit('[[sim:soft_refusal]]'), await submit('[[sim:no_asset]]')];
    await caller.advance(600);
    const [refused, empty] = await Promise.all(runs.map((run) => run.response()));
    expect(refused?.json).toMatchObject({ has_nsfw_concepts: [true] });
    expect(empty).toMatchObject({ status: 200, json: { images: [] } });
  });

  it('gives a video model’s output as one file that sniffs as MP4', async () => {
    const submitted = await call(`${caller.simulator.api}/fal/fal-ai/veo3.1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Key a:b' },
      body: '{"prompt":"a cat"}',
    });
    await caller.advance(600);
    const { json } = await caller.falCall(submitted.json['response_url']);
    const { url, content_type } = json['video'] as { url: string; content_type: string };
    const file = await fetch(url);
    expect([content_type, file.headers.get('content-type')]).toEqual(['video/mp4', 'video/mp4']);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.toString('latin1', 4, 12)).toBe('ftypisom');
    expect(bytes.toString()).toContain('a cat');
  });

  it('wants a key on every call', async () => {
    const { json } = await caller.fal({ prompt: 'a' });
    for (const authorization of ['', 'Bearer x', 'Key '])
      expect((await call(String(json['status_url']), { headers: { authorization } })).status).toBe(401);
  });
});

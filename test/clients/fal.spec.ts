import { beforeAll, describe, expect, it } from '@jest/globals';
import { createFalClient, type FalClient, type QueueStatus } from '@fal-ai/client';
import {
  failOnLeftovers,
  newTag,
  Receiver,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);
// The types of the package know fal’s models, and refuse the inputs that are wrong on purpose.
const model: string = 'fal-ai/flux/dev';
const editor: string = 'fal-ai/qwen-image-edit';
const anImage = { images: [{ url: expect.stringMatching(/^http/) }] };
const ledger = (tag: string) => system.provider.ledger(tag);

const clientFor = (credentials: string, more: object = { retry: { maxRetries: 0 } }): FalClient =>
  createFalClient({
    credentials,
    proxyUrl: { url: `${system.gateways[0]?.url}/fal/proxy`, when: 'always' },
    ...more,
  });

describe('the official client @fal-ai/client', () => {
  let caller: TestCaller;
  let fal: FalClient;
  beforeAll(async () => {
    caller = await system.caller();
    fal = clientFor(caller.key);
  });

  it('runs a model by the id that fal has for it', async () => {
    const { data, requestId } = await fal.run(model, { input: { prompt: 'a fox' } });
    expect(data).toMatchObject(anImage);
    const run = { model: 'fal/flux-dev', requestId, body: '' };
    expect((await caller.collect(run)).json()).toEqual(data);
  });

  it.each(['polling', 'streaming'] as const)('subscribes to a run by %s', async (mode) => {
    const updates: QueueStatus[] = [];
    const { data, requestId } = await fal.subscribe(model, {
      input: { prompt: 'a fox [[sim:takes=1500]]' },
      mode,
      logs: true,
      pollInterval: 100,
      onQueueUpdate: (update) => updates.push(update),
    });
    expect(data).toMatchObject(anImage);
    expect(updates.length).toBeGreaterThan(1);
    expect(updates.map((update) => update.request_id)).toEqual(updates.map(() => requestId));
    expect(updates.at(-1)).toMatchObject({ status: 'COMPLETED', logs: [], metrics: expect.anything() });
  });

  it('repeats a failed run by itself, and it is paid for once', async () => {
    const repeating = clientFor(caller.key, {});
    const tag = newTag('fal');
    const input = { prompt: `a fox [[sim:tag=${tag}]] [[sim:html]]` };
    await expect(repeating.run('fal-ai/flux/dev', { input })).rejects.toMatchObject({ status: 502 });
    expect(await ledger(tag)).toHaveLength(1);
    // A run that succeeded is not the answer of an equal call.
    const fine = newTag('fal');
    for (const _ of [1, 2])
      await repeating.run('fal-ai/flux/dev', { input: { prompt: `a fox [[sim:tag=${fine}]]` } });
    expect(await ledger(fine)).toHaveLength(2);
  });

  it('submits, says that there is no result yet, and cancels', async () => {
    const tag = newTag('fal');
    const input = { prompt: `a fox [[sim:tag=${tag}]] ${unending}` };
    const { request_id: requestId, status } = await fal.queue.submit(model, { input });
    expect(status).toBe('IN_QUEUE');
    await waitFor(async () => (await fal.queue.status(model, { requestId })).status === 'IN_PROGRESS', {
      withinMs: 60_000,
      what: 'the run to be sent',
    });
    await expect(fal.queue.result(model, { requestId })).rejects.toMatchObject({
      name: 'ApiError',
      status: 400,
    });
    await fal.queue.cancel(model, { requestId });
    await system.provider.finish(tag);
    await waitFor(async () => (await fal.queue.status(model, { requestId })).status === 'COMPLETED', {
      withinMs: 60_000,
      what: 'the run to end',
    });
  });

  it('submits with a webhook, which gets what fal sends', async () => {
    const receiver = await Receiver.start();
    try {
      const { request_id: requestId } = await fal.queue.submit(model, {
        input: { prompt: 'a fox' },
        webhookUrl: `${receiver.url}/fal`,
      });
      const [call] = await waitFor(async () => receiver.to('/fal').length > 0 && receiver.to('/fal'), {
        withinMs: 60_000,
        what: 'the webhook',
      });
      expect(JSON.parse(call?.text ?? '')).toMatchObject({
        request_id: requestId,
        status: 'OK',
        payload: anImage,
      });
    } finally {
      await receiver.stop();
    }
  });

  it('uploads files, alone and in an input', async () => {
    const bytes = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const url = await fal.storage.upload(new File([bytes], 'dot.png', { type: 'image/png' }));
    const { pathname, search } = new URL(url);
    const stored = await fetch(`${system.gateways[0]?.url}${pathname}${search}`);
    expect([stored.status, stored.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
    const input = { prompt: 'bluer', image_url: new Blob([bytes], { type: 'image/png' }) };
    const { data } = await fal.subscribe(editor, { input, pollInterval: 100 });
    expect(data).toMatchObject(anImage);
  });

  it('leaves a run that it waits for, which then ends by itself', async () => {
    const tag = newTag('fal');
    const leaving = new AbortController();
    const input = { prompt: `a fox [[sim:tag=${tag}]] ${unending}` };
    const running = fal.run(model, { input, abortSignal: leaving.signal });
    await waitFor(async () => (await ledger(tag)).length > 0, {
      withinMs: 60_000,
      what: 'the run to be sent',
    });
    leaving.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await system.provider.finish(tag);
    await system.ended(caller);
    expect(await ledger(tag)).toHaveLength(1);
  });

  it('gets errors of its own kinds, with the id of the request', async () => {
    const requestId = expect.stringMatching(/^[0-9a-f-]{36}$/);
    await expect(fal.run(model, { input: { prompt: 1 } })).rejects.toMatchObject({
      name: 'ValidationError',
      status: 422,
      requestId,
      fieldErrors: [{ loc: ['body', 'prompt'], type: 'string_type' }],
    });
    await expect(fal.run('fal-ai/none', { input: {} })).rejects.toMatchObject({
      name: 'ApiError',
      status: 404,
      body: { error_type: 'model_not_found' },
      requestId,
    });
    const stranger = await system.caller();
    const { request_id: own } = await fal.queue.submit(model, { input: { prompt: 'a fox' } });
    await expect(clientFor(stranger.key).queue.status(model, { requestId: own })).rejects.toMatchObject({
      status: 404,
    });
    await expect(clientFor('rk_live_none').run(model, { input: {} })).rejects.toMatchObject({
      status: 401,
      body: { error_type: 'unauthorized' },
    });
  });
});

failOnLeftovers();

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { System } from '../../harness/faults.js';
import {
  failOnLeftovers,
  newTag,
  Receiver,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../../harness/index.js';
import { Installed, plain } from './installed.js';

jest.setTimeout(300_000);

interface Queued {
  request_id: string;
  status: string;
  logs?: unknown[];
  metrics?: unknown;
}

/** The parts of the package that are used here. */
interface Fal {
  run(id: string, options: object): Promise<{ data: Output; requestId: string }>;
  subscribe(id: string, options: object): Promise<{ data: Output; requestId: string }>;
  queue: {
    submit(id: string, options: object): Promise<Queued>;
    status(id: string, options: object): Promise<Queued>;
    result(id: string, options: object): Promise<{ data: Output; requestId: string }>;
    cancel(id: string, options: object): Promise<void>;
  };
  storage: { upload(file: Blob): Promise<string> };
}

interface Output {
  images: { url: string }[];
}

interface Package {
  createFalClient(configuration: object): Fal;
}

const model = 'fal-ai/flux/dev';
const anImage = { images: [{ url: expect.stringMatching(/^http/) }] };

describe('@fal-ai/client 1.10.1', () => {
  let installed: Installed;
  let system: System;
  let caller: TestCaller;
  let clientFor: (key: string) => Fal;
  let fal: Fal;

  beforeAll(async () => {
    installed = Installed.packages('@fal-ai/client@1.10.1');
    const client = await installed.load<Package>('@fal-ai/client');
    system = await System.start({ transport: transports()[0] ?? 'postgres' });
    caller = await system.caller();
    clientFor = (credentials) =>
      client.createFalClient({
        credentials,
        proxyUrl: { url: `${system.gateways[0]?.url}/fal/proxy`, when: 'always' },
        retry: { maxRetries: 0 },
      });
    fal = clientFor(caller.key);
  });
  afterAll(async () => {
    await system.stop();
    installed.remove();
  });

  it('runs a model by the id that fal has for it', async () => {
    const { data, requestId } = await fal.run(model, { input: { prompt: 'a fox' } });
    expect(data).toMatchObject(anImage);
    const run = { model: 'fal/flux-dev', requestId, body: '' };
    expect((await caller.collect(run)).json()).toEqual(data);
  });

  it.each(['polling', 'streaming'])('subscribes to a run by %s', async (mode) => {
    const updates: Queued[] = [];
    const { data, requestId } = await fal.subscribe(model, {
      input: { prompt: 'a fox [[sim:takes=1500]]' },
      mode,
      logs: true,
      pollInterval: 100,
      onQueueUpdate: (update: Queued) => updates.push(update),
    });
    expect(data).toMatchObject(anImage);
    expect(updates.length).toBeGreaterThan(1);
    expect(updates.map((update) => update.request_id)).toEqual(updates.map(() => requestId));
    expect(updates.at(-1)).toMatchObject({ status: 'COMPLETED', logs: [], metrics: expect.anything() });
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
    const input = plain({ prompt: 'bluer', image_url: new Blob([bytes], { type: 'image/png' }) });
    const { data } = await fal.subscribe('fal-ai/qwen-image-edit', { input, pollInterval: 100 });
    expect(data).toMatchObject(anImage);
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

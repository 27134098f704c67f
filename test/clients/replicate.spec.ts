import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import Replicate, { type Prediction, validateWebhook } from 'replicate';
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

import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();
const system = sharedSystem(transport);
const model = 'black-forest-labs/flux-schnell';
const ledger = (tag: string) => system.provider.ledger(tag);

describe('the official client replicate', () => {
  let caller: TestCaller;
  let replicate: Replicate;
  beforeAll(async () => {
    caller = await system.caller({}, undefined, ['catalog', 'run', 'manage']);
    replicate = new Replicate({
      auth: caller.key,
      baseUrl: `${system.gateways[0]?.url}/replicate/v1`,
      useFileOutput: false,
    });
  });
  afterEach(() => system.ended(caller));

  it('runs a model and waits, as a run that is recorded and billed', async () => {
    const tag = newTag('replicate');
    const input = { prompt: `a fox [[sim:tag=${tag}]]` };
    const seen: Prediction[] = [];
    const output = await replicate.run(model, { input }, (prediction) => seen.push(prediction));
    expect(output).toEqual([expect.stringMatching(/^http/)]);
    expect((await fetch((output as unknown as string[])[0] ?? '')).status).toBe(200);
    expect(await ledger(tag)).toHaveLength(1);
    const id = seen.at(-1)?.id ?? '';
    const run = { model: 'replicate/flux-schnell', requestId: id, body: '' };
    expect((await caller.collect(run)).json()['output']).toEqual(output);
    const [row] = await system.sql<{ billed: string }>(
      'SELECT billed_micros AS billed FROM run WHERE id = $1',
      [id],
    );
    expect(Number(row?.billed)).toBeGreaterThan(0);
  });

  it('uploads a Buffer of an input, and the model gets a URL of it', async () => {
    const tag = newTag('replicate');
    const input = { prompt: `a fox [[sim:tag=${tag}]]`, image: tinyImage };
    expect(await replicate.run(model, { input })).toEqual([expect.stringMatching(/^http/)]);
    const [entry] = await ledger(tag);
    const sent = JSON.parse(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString()) as {
      input: { image: string };
    };
    expect(Buffer.from(await (await fetch(sent.input.image)).arrayBuffer())).toEqual(tinyImage);
  });

  it('creates a file, gets it and deletes it', async () => {
    const made = await replicate.files.create(new Blob([tinyImage], { type: 'image/png' }));
    expect(made).toMatchObject({ content_type: 'image/png', size: tinyImage.length });
    expect(await replicate.files.get(made.id)).toMatchObject({ id: made.id, size: made.size });
    expect(await replicate.files.delete(made.id)).toBe(true);
    await expect(replicate.files.get(made.id)).rejects.toThrow('404');
    await expect(replicate.files.create(Buffer.alloc(0))).rejects.toThrow('400');
  });

  it('polls a run that takes longer than it holds the connection, and pays once', async () => {
    const tag = newTag('replicate');
    const input = { prompt: `a fox [[sim:tag=${tag}]] [[sim:takes=1500]]` };
    const output = await replicate.run(model, { input, wait: { mode: 'block', timeout: 1 } });
    expect(output).toEqual([expect.stringMatching(/^http/)]);
    const polled = await replicate.run(model, { input, wait: { mode: 'poll', interval: 100 } });
    expect(polled).toEqual([expect.stringMatching(/^http/)]);
    expect(await ledger(tag)).toHaveLength(2);
  });

  it('creates a prediction, gets it and waits for it', async () => {
    const input = { prompt: 'a fox [[sim:takes=1000]]' };
    const made = await replicate.predictions.create({ version: model, input });
    expect(made).toMatchObject({ status: 'starting', model, input });
    expect((await replicate.predictions.get(made.id)).id).toBe(made.id);
    const ended = await replicate.wait(made, { interval: 100 });
    expect(ended).toMatchObject({ id: made.id, status: 'succeeded', error: null });
  });

  it('cancels a prediction at the provider', async () => {
    const tag = newTag('replicate');
    const input = { prompt: `a fox [[sim:tag=${tag}]] ${unending}` };
    const { id } = await replicate.predictions.create({ model, input });
    await waitFor(async () => (await replicate.predictions.get(id)).status === 'processing', {
      withinMs: 60_000,
      what: 'the run to be sent',
    });
    await replicate.predictions.cancel(id);
    await waitFor(async () => (await replicate.predictions.get(id)).status === 'canceled', {
      withinMs: 60_000,
      what: 'the run to end',
    });
    expect((await replicate.predictions.cancel(id)).status).toBe('canceled');
  });

  it('gets a signed webhook in Replicate’s format, of a success and of a failure', async () => {
    const receiver = await Receiver.start();
    try {
      const secret = (await caller.call('GET', '/v2/webhooks/secret')).json()['secret'];
      const sent = async (path: string, prompt: string) => {
        const made = await replicate.predictions.create({
          model,
          input: { prompt },
          webhook: `${receiver.url}${path}`,
          webhook_events_filter: ['completed'],
        });
        const [call] = await waitFor(async () => receiver.to(path).length > 0 && receiver.to(path), {
          withinMs: 60_000,
          what: 'the webhook',
        });
        const { text = '', headers } = call ?? {};
        const request = new Request(receiver.url, { method: 'POST', headers, body: text });
        expect(await validateWebhook(request, String(secret))).toBe(true);
        expect(JSON.parse(text)).toMatchObject({
          id: made.id,
          urls: made.urls,
          completed_at: expect.any(String),
        });
        return JSON.parse(text) as Prediction;
      };
      expect(await sent('/good', 'a fox')).toMatchObject({
        model,
        status: 'succeeded',
        output: [expect.stringMatching(/^http/)],
      });
      expect(await sent('/bad', 'a fox [[sim:job_failed]]')).toMatchObject({
        model,
        status: 'failed',
        output: null,
        error: expect.any(String),
      });
    } finally {
      await receiver.stop();
    }
  });

  it('understands the error of an unknown model with a suggestion, of bad fields and of a failure', async () => {
    await expect(replicate.run(`${model}x`, { input: { prompt: 'x' } })).rejects.toThrow(
      `There is no such model. Did you mean ${model}`,
    );
    await expect(replicate.run(model, { input: { prompt: 5 } })).rejects.toThrow(
      'input.prompt: Input should be a valid string',
    );
    await expect(replicate.run(model, { input: { prompt: '[[sim:job_failed]]' } })).rejects.toThrow(
      'Prediction failed: ',
    );
  });

  it('lists the models and describes one', async () => {
    const { results } = await replicate.models.list();
    expect(results.map(({ owner, name }) => `${owner}/${name}`)).toContain(model);
    const [owner = '', name = ''] = model.split('/');
    expect(await replicate.models.get(owner, name)).toMatchObject({ owner, name });
  });
});

failOnLeftovers();

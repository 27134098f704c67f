import { beforeAll, describe, expect, it } from '@jest/globals';
import { createRouter, type Router, RouterError, type RunStatus } from '../../libs/client/src/index.js';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { tinyImage } from './tiny-image.js';

const [transport = 'postgres'] = transports();
const model = 'bfl/flux-2-pro';

const failure = async (act: Promise<unknown>): Promise<RouterError> => {
  const error: unknown = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RouterError)) throw new Error(`expected a RouterError: ${String(error)}`);
  return error;
};

describe('the TypeScript client', () => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let router: Router;

  const routerOf = ({ key }: TestCaller) => createRouter({ key, baseUrl: system.gateways[0]?.url ?? '' });
  const arrived = (tag: string) =>
    waitFor(async () => (await system.provider.peaks(tag)).accepted === 1, {
      withinMs: 60_000,
      what: `${tag} at the provider`,
    });

  beforeAll(async () => {
    caller = await system.caller();
    router = routerOf(caller);
  });

  it('runs a model and says what it cost', async () => {
    const { output, costCents, contentType, runId, callId } = await router.run(model, {
      prompt: 'a red fox',
    });
    expect(output).toMatchObject({ status: 'Ready' });
    expect(contentType).toMatch(/^application\/json/);
    expect(costCents).toBeGreaterThan(0);
    expect(runId).toMatch(/^[0-9a-f-]{36}$/);
    expect(callId).toMatch(/^[0-9a-f-]{36}$/);
    expect(callId).not.toBe(runId);
  });

  it('returns binary output as a Blob, and sends a string byte for byte', async () => {
    const tag = newTag('bytes');
    const body = `{ "voice":"ash",  "input":"[[sim:tag=${tag}]]" ,"speed": 1.00}`;
    const { output, bytes } = await router.run('openai/tts-1', body);
    expect(output).toBeInstanceOf(Blob);
    expect((output as Blob).type).toBe('audio/mpeg');
    expect(bytes.length).toBe((output as Blob).size);
    const [entry] = await system.provider.ledger(tag);
    expect(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString()).toContain('"speed": 1.00}');
  });

  it('submits, follows, and collects more than once', async () => {
    const tag = newTag('followed');
    const run = await router.submit(model, { prompt: `[[sim:tag=${tag}]] ${unending}` });
    expect(run).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
    await arrived(tag);
    await waitFor(async () => (await router.status(run)).status === 'IN_PROGRESS', {
      withinMs: 60_000,
      what: 'it',
    });
    const states: RunStatus[] = [];
    for await (const state of router.subscribe(run)) {
      states.push(state);
      if (states.length === 1) await system.provider.finish(tag);
    }
    expect(states.map(({ status }) => status)).toEqual(['IN_PROGRESS', 'COMPLETED']);
    const { bytes } = await router.collect(run);
    expect((await router.collect(JSON.parse(JSON.stringify(run)) as RunStatus)).bytes).toEqual(bytes);
  });

  it('waits for a run that has not completed, and collects it', async () => {
    const run = await router.submit(model, { prompt: 'soon' });
    expect((await router.collect(run)).output).toMatchObject({ status: 'Ready' });
    expect((await router.cancel(run)).status).toBe('ALREADY_COMPLETED');
  });

  it('cancels a run', async () => {
    const one = await system.caller({ inflightLimit: 1 });
    const [tag, waiting] = [newTag('ahead'), newTag('waiting')];
    const ahead = await routerOf(one).submit(model, { prompt: `[[sim:tag=${tag}]] ${unending}` });
    const run = await routerOf(one).submit(model, { prompt: `[[sim:tag=${waiting}]]` });
    expect((await routerOf(one).cancel(run)).status).toBe('CANCELLATION_REQUESTED');
    expect(await failure(routerOf(one).collect(run))).toMatchObject({
      runId: run.request_id,
      bucket: 'client_disconnected',
      status: 409,
    });
    await arrived(tag);
    await system.provider.finish(tag);
    await routerOf(one).collect(ahead);
  });

  it('throws errors with their bucket and the rejected fields', async () => {
    const rejected = await failure(router.run(model, { prompt: 1 }));
    expect(rejected).toMatchObject({ bucket: 'invalid_input', status: 422 });
    expect(rejected.fields).toEqual([
      expect.objectContaining({ loc: ['body', 'prompt'], type: 'string_type' }),
    ]);
    expect(rejected.message).toMatch(/^body\.prompt: /);
    expect(rejected.callId).toMatch(/^[0-9a-f-]{36}$/);
    expect(rejected.runId).toBeUndefined();
    const found = await Promise.all([
      failure(router.run('bfl/flux-2-por', {})),
      failure(router.run(model, { prompt: '[[sim:policy_output]]' })),
      failure(
        createRouter({ key: 'rk_live_nobodys', baseUrl: system.gateways[0]?.url ?? '' }).run(model, '{}'),
      ),
      failure(
        createRouter({ key: 'x', baseUrl: 'http://127.0.0.1:1' }).run(model, '{}', { timeoutMs: 1_000 }),
      ),
    ]);
    expect(found.map(({ bucket }) => bucket)).toEqual([
      'model_not_found',
      'content_policy_violation',
      'unauthorized',
      'deadline_exceeded',
    ]);
    expect(found[0]?.message).toContain(model);
  });

  it('collects a timed-out run with its idempotency key, and pays once', async () => {
    const tag = newTag('late');
    const input = { prompt: `[[sim:tag=${tag}]] ${unending}` };
    const late = await failure(router.run(model, input, { timeoutMs: 2_000 }));
    expect(late).toMatchObject({ bucket: 'deadline_exceeded', status: 0 });
    await arrived(tag);
    const again = router.run(model, input, { idempotencyKey: late.idempotencyKey ?? '' });
    await system.provider.finish(tag);
    expect((await again).output).toMatchObject({ status: 'Ready' });
    expect((await system.provider.peaks(tag)).accepted).toBe(1);
  });

  it('waits for a slot instead of failing, and ends the wait with the caller’s signal', async () => {
    const one = await system.caller({ inflightLimit: 1 });
    const [tag, next] = [newTag('busy'), newTag('next')];
    const ahead = await routerOf(one).submit(model, { prompt: `[[sim:tag=${tag}]] ${unending}` });
    await arrived(tag);
    const leaving = new AbortController();
    const left = routerOf(one).run(model, { prompt: 'left' }, { signal: leaving.signal });
    const waiting = routerOf(one).run(model, { prompt: `[[sim:tag=${next}]]` });
    leaving.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await system.provider.finish(tag);
    expect((await waiting).output).toMatchObject({ status: 'Ready' });
    await routerOf(one).collect(ahead);
  });

  it('uploads the files in an input', async () => {
    const tag = newTag('files');
    const image = new Blob([tinyImage], { type: 'image/png' });
    await router.run(model, { prompt: `[[sim:tag=${tag}]]`, input_image: image });
    const [entry] = await system.provider.ledger(tag);
    const sent = JSON.parse(Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString()) as Record<
      string,
      string
    >;
    const { pathname, search } = new URL(sent['input_image'] ?? '');
    const file = await fetch(`${system.gateways[0]?.url}${pathname}${search}`);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(await router.upload(image)).toMatch(/^http/);
  });

  it('lists the models of all pages', async () => {
    const ids: string[] = [];
    for await (const { id } of router.models()) ids.push(id);
    expect(ids.length).toBeGreaterThan(100);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain(model);
  });
});

failOnLeftovers();

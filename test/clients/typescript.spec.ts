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

async function all<Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

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
    waitFor(async () => (await system.provider.accepted(tag)) === 1, {
      withinMs: 60_000,
      what: `${tag} at the provider`,
    });

  beforeAll(async () => {
    caller = await system.caller({}, undefined, ['catalog', 'run', 'requests', 'usage', 'manage']);
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

  it('names fields that look like typos', async () => {
    const unknownFields = { hieght: 'height' };
    const input = JSON.stringify({ prompt: 'soon', hieght: 1024 });
    expect(await router.run(model, input)).toMatchObject({ unknownFields });
    expect(await router.subscribe(model, input)).toMatchObject({ unknownFields });
    expect(await failure(router.run(model, '{"hieght":1024}'))).toMatchObject({ unknownFields });
  });

  it('finds and sums runs by tag and end user', async () => {
    const labels = { tags: { project: newTag('project') }, user: newTag('user') };
    const { runId } = await router.subscribe(model, { prompt: 'soon' }, labels);
    await router.submit(model, { prompt: 'soon' }, { user: labels.user });
    await all(router.stream(model, { prompt: 'soon' }, { user: labels.user }));
    expect(await all(router.requests.list({ user: labels.user }))).toHaveLength(3);
    const found = await all(router.requests.list({ tag: `project=${labels.tags.project}` }));
    expect(found).toMatchObject([{ request_id: runId, ...labels }]);
    const { data } = await router.usage({ groupBy: 'tag:project' });
    expect(data.filter(({ tags }) => tags?.['project'] === labels.tags.project)).toMatchObject([{ runs: 1 }]);
    await expect(router.run(model, { prompt: 'x' }, { tags: { project: 'a,b' } })).rejects.toThrow('comma');
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
    // The cause of the time limit is the last network error.
    expect(found[3]?.cause).toMatchObject({ message: 'fetch failed' });
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
    expect(await system.provider.accepted(tag)).toBe(1);
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

  it('lists the models of all pages, and those that a filter finds', async () => {
    const ids: string[] = [];
    for await (const { id } of router.models()) ids.push(id);
    expect(ids.length).toBeGreaterThan(100);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toContain(model);
    const found = await all(router.models({ search: 'flux 2', provider: 'bfl', modality: 'image' }));
    expect(found.map(({ id }) => id)).toContain(model);
    expect(
      found.filter(({ provider, output_modalities: kinds }) => provider !== 'bfl' || kinds[0] !== 'image'),
    ).toEqual([]);
    expect(found[0]?.price.text).toMatch(/^\$/);
  });

  it('subscribes to a model: reports states and progress, and returns the result', async () => {
    const states: string[] = [];
    const shares: number[] = [];
    const { output, runId, callId } = await router.subscribe(
      model,
      { prompt: '[[sim:takes=2500]]' },
      { onStatus: ({ status }) => states.push(status), onProgress: (share) => shares.push(share) },
    );
    expect(output).toMatchObject({ status: 'Ready' });
    expect([runId, callId]).toEqual([
      expect.stringMatching(/^[0-9a-f-]{36}$/),
      expect.stringMatching(/^[0-9a-f-]{36}$/),
    ]);
    expect(states[0]).toBe('IN_QUEUE');
    expect(states.at(-1)).toBe('COMPLETED');
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  });

  it('throws the error of a run that it subscribed to, with the id of the run', async () => {
    const failed = await failure(router.subscribe(model, { prompt: '[[sim:policy_output]]' }));
    expect(failed.bucket).toBe('content_policy_violation');
    expect((await router.requests.get(failed.runId ?? '')).error_type).toBe('content_policy_violation');
  });

  it('says what a run costs before it runs', async () => {
    const estimate = await router.cost(model, { prompt: 'a red fox' });
    const { costCents } = await router.run(model, { prompt: 'a red fox' });
    expect(estimate.expected_cents).toBeGreaterThan(0);
    expect(costCents).toBeLessThanOrEqual(estimate.max_cents);
    expect(await failure(router.cost(model, { prompt: 1 }))).toMatchObject({
      status: 422,
      bucket: 'invalid_input',
    });
  });

  it('lists and reads the runs of the workspace, by the ids of runs and of calls', async () => {
    const { runId = '', callId = '' } = await router.run(model, { prompt: 'listed' });
    const listed = await all(
      router.requests.list({ model, outcome: 'succeeded', from: new Date(Date.now() - 3_600_000) }),
    );
    expect(listed.map(({ request_id: id }) => id)).toContain(runId);
    expect(await all(router.requests.list({ errorType: 'rate_limited' }))).toEqual([]);
    const byRun = await router.requests.get(runId);
    expect(byRun).toMatchObject({ request_id: runId, model, status: 'COMPLETED', attempts: 1 });
    expect(await router.requests.get(callId)).toEqual(byRun);
  });

  it('sums usage and cost', async () => {
    await router.run(model, { prompt: 'used' });
    const { data, total, group_by: grouping } = await router.usage({ groupBy: ['day', 'model'] });
    expect(grouping).toEqual(['day', 'model']);
    expect(data.find((each) => each.model === model)?.runs).toBeGreaterThan(0);
    expect(total.cost_cents).toBeGreaterThan(0);
    expect((await router.usage({ to: '2026-01-01T00:00:00Z' })).total.runs).toBe(0);
  });

  it('uploads, lists, reads and deletes files', async () => {
    const file = await router.files.upload(new Blob([tinyImage]));
    expect(file).toMatchObject({ content_type: 'image/png', size: tinyImage.length });
    expect((await all(router.files.list())).map(({ id }) => id)).toContain(file.id);
    expect(await router.files.get(file.id)).toMatchObject({ id: file.id });
    await router.files.delete(file.id);
    expect(await failure(router.files.get(file.id))).toMatchObject({ status: 404 });
  });

  it('fetches the secret that signs webhooks', async () => {
    expect(await router.webhookSecret()).toMatch(/^whsec_/);
    const { key } = await system.caller();
    const other = createRouter({ key, baseUrl: system.gateways[0]?.url ?? '' });
    expect(await failure(other.webhookSecret())).toMatchObject({ status: 403, bucket: 'forbidden' });
  });

  it('streams a model', async () => {
    const events = await all(router.stream('openai/gpt-5-mini', { input: 'hello' }));
    const text = events.map(({ data }) => data).join('');
    expect(text).toContain('"output"');
  });

  it('streams a model whose stream is requested by the query', async () => {
    const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
    const events = await all(router.stream('vertexai/gemini-2.5-flash', { contents }));
    expect(events.length).toBeGreaterThan(1);
    expect(events[0]?.data).toContain('"candidates"');
  });
});

failOnLeftovers();

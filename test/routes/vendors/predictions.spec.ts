import type { Ending } from '#persistence';
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const base = () => `${gateway().url}/replicate/v1`;
const flux = 'black-forest-labs/flux-schnell';
const of = (requestId: string) => ({ requestId, model: 'replicate/flux-schnell', body: '' });

interface Prediction {
  id: string;
  status: string;
  output: unknown;
  error: unknown;
  urls: { get: string; cancel: string };
}
interface Problem {
  title: string;
  detail: string;
  status: number;
}

async function call(
  { key }: Pick<Caller, 'key'>,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${base()}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const json = () => JSON.parse(text) as Prediction & Problem & Record<string, unknown>;
  return { status: response.status, headers: response.headers, text, json };
}

const create = (caller: Pick<Caller, 'key'>, input = '{"prompt":"x"}', headers?: Record<string, string>) =>
  call(caller, `/models/${flux}/predictions`, `{"input":${input}}`, headers);

const output =
  '{"id":"theirs","model":"m","urls":{"get":"https://api"}, "seed":12345678901234567890,"output":["https://f/a.png"],"status":"succeeded"}';
const succeeded: Ending = {
  outcome: 'succeeded',
  mediaType: 'application/json',
  body: Buffer.from(output),
};
const failed: Ending = {
  outcome: 'failed',
  bucket: 'provider_error',
  status: 502,
  detail: 'The provider failed.',
  billable: false,
};

describe('a prediction', () => {
  it('is another run for each equal call without a key, even after its gateway has restarted', async () => {
    const { caller } = await gateway().caller();
    const { id } = (await create(caller)).json();
    await gateway().database.work.query(`UPDATE unkeyed_call SET held_by = 'ended' WHERE run_id = $1`, [id]);
    const second = await create(caller);
    expect([second.status, second.json().id === id]).toEqual([201, false]);
  });

  it('is a queued run of the row that the path names, with the bytes of the input', async () => {
    const { caller } = await gateway().caller();
    const input = '{ "prompt" : "x", "seed": 12345678901234567890 }';
    const made = await create(caller, input);
    const { id, urls } = made.json();
    expect([made.status, made.headers.get('x-service-run-id')]).toEqual([201, id]);
    expect(made.text).toContain(`"input":${input}`);
    expect(made.json()).toMatchObject({
      model: flux,
      version: 'hidden',
      status: 'starting',
      output: null,
      error: null,
      created_at: expect.stringMatching(/^\d{4}-.+Z$/),
      started_at: null,
      completed_at: null,
    });
    expect(urls).toEqual({
      get: expect.stringMatching(new RegExp(`/replicate/v1/predictions/${id}$`)),
      cancel: expect.stringMatching(new RegExp(`/replicate/v1/predictions/${id}/cancel$`)),
    });
    expect((await gateway().storedInput(of(id))).bytes.toString()).toBe(input);
    await gateway().dispatch(of(id));
    expect((await call(caller, `/predictions/${id}`)).json()).toMatchObject({ id, status: 'processing' });
  });

  it('may name its model in the body, as a version or a model', async () => {
    const { caller } = await gateway().caller();
    const names = { version: [flux, `x:${flux}`, 'replicate/flux-schnell'], model: [flux] };
    for (const [member, values] of Object.entries(names)) {
      for (const value of values) {
        const body = JSON.stringify({ input: { prompt: 'x' }, [member]: value });
        expect((await call(caller, '/predictions', body)).json()).toMatchObject({ model: flux });
      }
    }
    const unnamed = await call(caller, '/predictions', '{"input":{"prompt":"x"}}');
    expect([unnamed.status, unnamed.json().detail]).toEqual([422, 'version or model is required.']);
  });

  it('that a call waits for is answered with its end: the provider’s prediction under our id', async () => {
    const { caller, workspace } = await gateway().caller();
    const waiting = create(caller, undefined, { prefer: 'wait=30' });
    const { requestId } = await gateway().admittedRun(workspace);
    await gateway().finish(of(requestId), succeeded);
    const made = await waiting;
    expect([made.status, made.json()]).toEqual([
      201,
      expect.objectContaining({
        id: requestId,
        status: 'succeeded',
        output: ['https://f/a.png'],
        started_at: expect.any(String),
        completed_at: expect.any(String),
      }),
    ]);
    expect(made.text).toContain(' "seed":12345678901234567890,');
    expect(made.text).not.toMatch(/theirs|https:\/\/api/);
    expect(made.headers.get('x-service-cost-cents')).toMatch(/^[0-9.]+$/);
    const got = await call(caller, `/predictions/${requestId}`);
    expect([got.status, got.text]).toEqual([200, made.text]);
  });

  it('that has not ended within the wait is answered as one to be polled, and continues', async () => {
    const { caller } = await gateway().caller();
    const made = await create(caller, undefined, { prefer: 'wait=1' });
    expect([made.status, made.json().status]).toEqual([201, 'starting']);
    const got = await call(caller, `/predictions/${made.json().id}`);
    expect([got.status, got.json().status]).toEqual([200, 'starting']);
  });

  it('continues without its caller, and a large output passes unchanged', async () => {
    const { caller, workspace } = await gateway().caller();
    const leaving = new AbortController();
    const left = fetch(`${base()}/models/${flux}/predictions`, {
      method: 'POST',
      headers: { authorization: `Token ${caller.key}`, 'content-type': 'application/json', prefer: 'wait' },
      body: '{"input":{"prompt":"x"}}',
      signal: leaving.signal,
    });
    const run = await gateway().admittedRun(workspace);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ name: 'AbortError' });
    const { storedAs, put } = await gateway().outputBeside(run);
    const data = `data:image/png;base64,${'A'.repeat(5_000_000)}`;
    put(Buffer.from(`{"id":"theirs","output":"${data}","status":"succeeded"}`));
    await gateway().finish(run, { ...succeeded, body: { storedAs } });
    const got = (await call(caller, `/predictions/${run.requestId}`)).json();
    expect([got.id, got.status, got.output === data]).toEqual([run.requestId, 'succeeded', true]);
  });

  it('that is waiting is cancelled at once, and one that has ended stays as it is', async () => {
    const { caller } = await gateway().caller();
    const { id } = (await create(caller)).json();
    const cancelled = await call(caller, `/predictions/${id}/cancel`, '');
    expect([cancelled.status, cancelled.json()]).toEqual([
      200,
      expect.objectContaining({ id, status: 'canceled', output: null, error: null }),
    ]);
    const other = (await create(caller)).json();
    await gateway().finish(of(other.id), failed);
    const late = await call(caller, `/predictions/${other.id}/cancel`, '');
    expect([late.status, late.json()]).toEqual([
      200,
      expect.objectContaining({ status: 'failed', error: 'The provider failed.' }),
    ]);
  });

  it('that was asked to be cancelled while it ran is still processing', async () => {
    const { caller } = await gateway().caller();
    const { id } = (await create(caller)).json();
    await gateway().dispatch(of(id));
    const asked = await call(caller, `/predictions/${id}/cancel`, '');
    expect([asked.status, asked.json().status]).toEqual([200, 'processing']);
  });

  it('is the same for a repeated Idempotency-Key', async () => {
    const { caller } = await gateway().caller();
    const named = { 'idempotency-key': 'k' };
    const { id } = (await create(caller, undefined, named)).json();
    const again = await create(caller, undefined, named);
    expect([again.status, again.json().id, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      id,
      'true',
    ]);
    expect((await create(caller, '{"prompt":"y"}', named)).status).toBe(409);
  });

  it('of another workspace, or of another vendor’s model, is unknown', async () => {
    const { caller } = await gateway().caller();
    const { caller: stranger } = await gateway().caller();
    const { id } = (await create(stranger)).json();
    const bfl = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    for (const each of [id, bfl.requestId, 'none']) {
      const got = await call(caller, `/predictions/${each}`);
      expect([got.status, got.json()]).toEqual([
        404,
        { title: 'Not found', detail: 'There is no such request.', status: 404 },
      ]);
      expect((await call(caller, `/predictions/${each}/cancel`, '')).status).toBe(404);
    }
  });

  it('with a large input stores it byte for byte, and does not repeat it', async () => {
    const { caller } = await gateway().caller();
    const input = `{"prompt":"x","image":"data:image/png;base64,${'A'.repeat(30 * 1024 * 1024)}"}`;
    const made = await create(caller, input);
    expect([made.status, made.json()]).toEqual([201, expect.objectContaining({ input: null })]);
    const { bytes, beside } = await gateway().storedInput(of(made.json().id));
    expect([beside, bytes.equals(Buffer.from(input))]).toEqual([true, true]);
  });
});

describe('a failed call of a client of Replicate', () => {
  it('names the fields that the model rejects', async () => {
    const { caller } = await gateway().caller();
    const answer = await create(caller, '{"prompt":5}');
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect([answer.status, answer.headers.get('x-service-error-type'), answer.json()]).toEqual([
      422,
      'invalid_input',
      {
        title: 'Input validation failed',
        detail: '- input.prompt: Input should be a valid string\n',
        status: 422,
        invalid_fields: [
          { type: 'string_type', field: 'input.prompt', description: 'Input should be a valid string' },
        ],
      },
    ]);
    const without = await call(caller, `/models/${flux}/predictions`, '{}');
    expect(without.json()).toMatchObject({ status: 422, detail: '- input: Field required\n' });
  });

  it('suggests models in place of an unknown one', async () => {
    const { caller } = await gateway().caller();
    const answer = await call(caller, `/models/${flux}x/predictions`, '{"input":{"prompt":"x"}}');
    expect([answer.status, answer.json()]).toEqual([
      404,
      {
        title: 'Not found',
        detail: expect.stringContaining(`There is no such model. Did you mean ${flux}`),
        status: 404,
      },
    ]);
  });

  it.each([
    ['"webhook":"http://127.0.0.1:1/"', 'webhook must be a public https URL'],
    ['"webhook":5', 'webhook: '],
    [
      '"webhook":"https://hooks.example/a","webhook_events_filter":["start"]',
      'webhook_events_filter must include completed',
    ],
    ['"webhook":}', 'The body is not valid JSON.'],
  ])('is 400 for %s', async (member, says) => {
    const { caller } = await gateway().caller();
    const answer = await call(caller, `/models/${flux}/predictions`, `{"input":{"prompt":"x"},${member}}`);
    expect([answer.status, answer.json()]).toEqual([
      400,
      { title: 'Invalid request', detail: expect.stringContaining(says), status: 400 },
    ]);
  });

  it('is 401 without a usable key, and 404 elsewhere', async () => {
    const { caller } = await gateway().caller();
    expect((await create({ key: 'wrong' })).json()).toMatchObject({ title: 'Unauthenticated', status: 401 });
    expect((await call(caller, '/trainings')).json()).toMatchObject({ title: 'Not found', status: 404 });
  });
});

it('lists the models that the caller may run, and describes one', async () => {
  const { caller } = await gateway().caller({ runnable: ['replicate/flux-schnell'] });
  const entry = { owner: 'black-forest-labs', name: 'flux-schnell', url: `https://replicate.com/${flux}` };
  expect((await call(caller, '/models')).json()).toMatchObject({ next: null, results: [entry] });
  expect((await call(caller, `/models/${flux}`)).json()).toMatchObject(entry);
  expect((await call(caller, '/models/black-forest-labs/flux-dev')).status).toBe(404);
});

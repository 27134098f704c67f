import { expect, it } from '@jest/globals';
import { gatewayForFile, sharedGateway } from '../gateways.js';
import { anthropic, gemini, openai, type VendorSide, vendorSides } from './vendor-calls.js';

const gateway = sharedGateway();
const onlyOpenai = gatewayForFile({ COMPAT_CLIENTS: 'fal,openai' });

const get = async (vendor: VendorSide, path: string, key: string) => {
  const response = await fetch(`${gateway().url}${vendor.base}${path}`, { headers: vendor.credential(key) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

/** A workspace that may run one model of each vendor, and see one more. */
const few = async () => {
  // The second row of one model, which another path runs.
  const runnable = [...vendorSides.map(({ id }) => id), 'openai/gpt-5.5-chat-completions'];
  const { caller } = await gateway().caller({ runnable, visible: [...runnable, 'openai/gpt-5'] });
  return caller.key;
};

it('openai: lists the models that the caller may run', async () => {
  const key = await few();
  const entry = { id: 'gpt-5.5', object: 'model', created: 0, owned_by: 'openai' };
  expect((await get(openai, '/models', key)).body).toEqual({ object: 'list', data: [entry] });
  expect(await get(openai, '/models/gpt-5.5', key)).toEqual({ status: 200, body: entry });
  expect((await get(openai, '/models/gpt-5', key)).status).toBe(404);
});

it('anthropic: lists the models that the caller may run', async () => {
  const key = await few();
  const entry = {
    type: 'model',
    id: 'claude-opus-5',
    display_name: 'Claude Opus 5',
    created_at: '1970-01-01T00:00:00.000Z',
  };
  expect((await get(anthropic, '/models', key)).body).toEqual({
    data: [entry],
    has_more: false,
    first_id: 'claude-opus-5',
    last_id: 'claude-opus-5',
  });
  expect(await get(anthropic, '/models/claude-opus-5', key)).toEqual({ status: 200, body: entry });
});

it('gemini: lists the models that the caller may run, with their methods', async () => {
  const key = await few();
  const entry = {
    name: 'models/gemini-2.5-flash',
    displayName: 'Gemini 2.5 Flash',
    description: expect.stringContaining('questions'),
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  };
  expect((await get(gemini, '/models', key)).body).toEqual({ models: [entry] });
  expect(await get(gemini, '/models/gemini-2.5-flash', key)).toEqual({ status: 200, body: entry });
});

it('gemini: a model of another provider is listed once, runs at its own paths and is suggested', async () => {
  const { caller } = await gateway().caller();
  const entry = {
    name: 'models/gemini-embedding-001',
    displayName: expect.stringContaining('Gemini Embedding'),
    description: expect.stringContaining('vector'),
    supportedGenerationMethods: ['embedContent', 'batchEmbedContents'],
  };
  const { models } = (await get(gemini, '/models', caller.key)).body as { models: { name: string }[] };
  expect(models.filter(({ name }) => name.includes('embedding'))).toEqual([entry]);
  expect((await get(gemini, '/models/gemini-embedding-001', caller.key)).body).toEqual(entry);
  const messageOf = async (call: string) => {
    const response = await fetch(`${gateway().url}/gemini/v1beta/models/${call}`, {
      method: 'POST',
      headers: { ...gemini.credential(caller.key), 'content-type': 'application/json' },
      body: '{}',
    });
    return `${response.status} ${gemini.textOf((await response.json()) as never)}`;
  };
  const paths = ['embedContent', 'batchEmbedContents'].map(
    (method) => `/gemini/v1beta/models/{model}:${method}`,
  );
  expect(await messageOf('gemini-embedding-001:generateContent')).toBe(
    `404 This path does not run the model; ${paths.join(' or ')} does.`,
  );
  expect(await messageOf('gemini-embeding-001:batchEmbedContents')).toContain(
    '404 There is no such model. Did you mean gemini-embedding-001',
  );
  expect(await messageOf('gemini-embedding-001:embedContent')).toContain('422 ');
});

it.each(vendorSides)('$base lists only models that one of its paths runs', async (vendor) => {
  const { caller } = await gateway().caller();
  const { body } = await get(vendor, '/models', caller.key);
  const text = JSON.stringify(body);
  expect(text).toContain(`${vendor.model}"`);
  for (const name of ['chat-completions', 'veo-3.1', 'imagen-4', 'flux-2-pro'])
    expect(text).not.toContain(name);
  // A model that several paths run is listed once.
  expect(text.split(`${vendor.model}"`)).toHaveLength(2);
});

it.each(['openai/gpt-5.5', 'gpt-5.5'])(
  'a model runs by the name %s, and its provider gets its own',
  async (name) => {
    const { caller, workspace } = await gateway().caller();
    expect((await get(openai, `/models/${encodeURIComponent(name)}`, caller.key)).status).toBe(200);
    const answering = fetch(`${gateway().url}/openai/v1/responses`, {
      method: 'POST',
      headers: { ...openai.credential(caller.key), 'content-type': 'application/json' },
      body: `{"input":"x", "model" : "${name}","max_output_tokens":1e1}`,
    });
    const run = await gateway().admittedRun(workspace);
    const sent = (await gateway().storedInput(run)).bytes.toString();
    expect(sent).toMatch(/^\{"input":"x", "model" : ?"gpt-5\.5","max_output_tokens":1e1\}$/);
    const body = Buffer.from('{}');
    await gateway().finish(run, { outcome: 'succeeded', mediaType: 'application/json', body });
    expect((await answering).status).toBe(200);
  },
);

it('a model is not run at the path of another kind, and the error says where it is', async () => {
  const { caller } = await gateway().caller();
  const response = await fetch(`${gateway().url}/openai/v1/responses`, {
    method: 'POST',
    headers: { ...openai.credential(caller.key), 'content-type': 'application/json' },
    body: '{"input":"x","model":"gpt-image-1.5"}',
  });
  expect([response.status, await response.json()]).toEqual([
    404,
    {
      error: {
        message: 'This path does not run the model; /openai/v1/images/generations does.',
        type: 'invalid_request_error',
        param: null,
        code: 'model_not_found',
      },
    },
  ]);
});

it('a body without a model, or with one that is not a text, is 422', async () => {
  const { caller } = await gateway().caller();
  const send = async (body: string) => {
    const response = await fetch(`${gateway().url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { ...anthropic.credential(caller.key), 'content-type': 'application/json' },
      body,
    });
    return [response.status, anthropic.textOf((await response.json()) as never)];
  };
  const accepts = 'The model does not accept this input.';
  expect(await send('{"metadata":{"model":"claude-opus-5"}}')).toEqual([
    422,
    `${accepts} model: Field required.`,
  ]);
  expect(await send('{"model":5}')).toEqual([422, `${accepts} model: Input should be a valid string.`]);
});

it('Google’s array of events is refused, because the router streams server-sent events', async () => {
  const { caller } = await gateway().caller();
  const { path, body } = gemini.call(gemini.model);
  const stream = await fetch(`${gateway().url}${path.replace('generateC', 'streamGenerateC')}`, {
    method: 'POST',
    headers: { ...gemini.credential(caller.key), 'content-type': 'application/json' },
    body,
  });
  expect([stream.status, await stream.json()]).toEqual([
    400,
    {
      error: {
        code: 400,
        message: 'Add alt=sse to the query: the router streams only as server-sent events.',
        status: 'INVALID_ARGUMENT',
      },
    },
  ]);
});

it('COMPAT_CLIENTS lists the vendors that are on', async () => {
  const statuses = vendorSides.map(async ({ base }) => {
    const response = await fetch(`${onlyOpenai().url}${base}/models`);
    return [response.status, Object.keys((await response.json()) as object)];
  });
  expect(await Promise.all(statuses)).toEqual([
    [401, ['error']],
    [404, ['error', 'message']],
    [404, ['error', 'message']],
  ]);
});

import { beforeAll, describe, expect, it } from '@jest/globals';
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

interface Found {
  models: { id: string; title?: string }[];
  total: number;
  next_cursor?: string;
}

interface ToolResult {
  content: { type: string; text: string }[];
  isError?: boolean;
}

// test/operations/callers.spec.ts tests this route with the official client.
describe('POST /mcp', () => {
  const system = sharedSystem(transport);
  let caller: TestCaller;

  beforeAll(async () => {
    caller = await system.caller({}, undefined, ['catalog', 'run', 'requests']);
  });

  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${system.gateways[0]?.url}/mcp`, {
      method: 'POST',
      headers: {
        'x-api-key': caller.key,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });
  const asked = async (method: string, params: object = {}): Promise<unknown> => {
    const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const [, message = ''] = /^data: (\{.*)$/m.exec(await answer.text()) ?? [];
    return (JSON.parse(message) as { result: unknown }).result;
  };
  const called = async (name: string, input: Record<string, unknown> | null = {}) => {
    const { content, isError } = (await asked('tools/call', { name, arguments: input })) as ToolResult;
    const text = content[0]?.text ?? '';
    return {
      text,
      content,
      isError: isError === true,
      value: () => JSON.parse(text) as Record<string, unknown>,
    };
  };

  it('lists its tools', async () => {
    const { tools } = (await asked('tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual([
      'find_models',
      'describe_model',
      'estimate_cost',
      'run_model',
      'get_run',
      'cancel_run',
      'list_runs',
      'upload_file',
    ]);
  });

  it('finds models and describes one', async () => {
    const { models, total, next_cursor: next } = (await called('find_models')).value() as unknown as Found;
    expect(total).toBeGreaterThan(300);
    expect(next).toBe(String(models.length));
    const { models: narrowed } = (
      await called('find_models', { query: 'flux', provider: 'bfl', modality: 'image' })
    ).value() as unknown as Found;
    expect(narrowed.map(({ id }) => id)).toContain(model);
    expect(narrowed.filter(({ id, title }) => !id.startsWith('bfl/') || title === undefined)).toEqual([]);
    const described = await called('describe_model', { model });
    expect(described.value()).toMatchObject({
      model,
      price: expect.stringMatching(/^\$/),
      inputs: { prompt: expect.stringMatching(/^required string/) },
      example: { prompt: expect.any(String) },
    });
    const document = await called('describe_model', { model, full: true });
    expect(document.value()).toMatchObject({ openapi: '3.1.0', info: { title: model } });
  });

  // Other files add models to the catalog meanwhile, so the two lists may differ for a moment.
  const findsAll = async (given: Record<string, unknown> | null) =>
    (await called('find_models', given)).text === (await called('find_models')).text;

  it('treats null and an empty string as an omitted optional argument', async () => {
    await waitFor(() => findsAll(null), { withinMs: 60_000, what: 'the list of all models' });
    for (const nothing of [null, '']) {
      const others = { task: nothing, query: nothing, provider: nothing, modality: nothing, cursor: nothing };
      await waitFor(() => findsAll(others), { withinMs: 60_000, what: 'the list of all models' });
      expect((await called('describe_model', { model, full: nothing })).value()).toMatchObject({ model });
      const ran = await called('run_model', {
        model,
        input: { prompt: 'a red fox' },
        idempotency_key: nothing,
        wait_seconds: nothing,
      });
      expect(ran.value()).toMatchObject({ status: 'COMPLETED', output: { status: 'Ready' } });
      const { runs } = (
        await called('list_runs', { model: nothing, status: nothing, limit: nothing, cursor: nothing })
      ).value() as { runs: object[] };
      expect(runs.length).toBeGreaterThan(0);
      const uploaded = await called('upload_file', {
        data: tinyImage.toString('base64'),
        content_type: nothing,
      });
      expect(uploaded.value()).toMatchObject({ content_type: 'image/png' });
    }
  });

  it.each([
    '*/*',
    'text/html, */*;q=0.1',
    'application/json, text/event-stream',
    'Application/JSON, Text/Event-Stream;q=0.9',
    'application/*, text/*',
  ])('answers Accept: %s', async (accept) => {
    const answer = await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { accept });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('find_models')]);
  });

  it.each(['application/json', 'application/*, text/event-stream;q=0', 'text/html'])(
    'answers 406 to Accept: %s, because the answer is a stream',
    async (accept) => {
      const answer = await post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', { accept });
      expect(answer.status).toBe(406);
    },
  );

  it('runs a model and returns its output and cost', async () => {
    const { value, isError } = await called('run_model', { model, input: { prompt: 'a red fox' } });
    expect(isError).toBe(false);
    expect(value()).toMatchObject({ status: 'COMPLETED', output: { status: 'Ready' } });
    expect(value()['cost_cents']).toBeGreaterThan(0);
  });

  it('preserves every number in inputs and outputs', async () => {
    const input = '{ "prompt":"a red fox", "seed":9007199254740993, "tomorrow":1.0 }';
    const params = `{"name":"run_model","arguments":{"model":"${model}","input":${input}}}`;
    const answer = await post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
    const text = await answer.text();
    expect(text).toContain(String.raw`\"seed\":18446744073709551615`);
    const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text.slice(text.indexOf('request_id'))) ?? [];
    const sent = await caller.call('GET', `/v2/requests/${id}/input`);
    expect(sent.bytes.toString()).toBe(input);
  });

  it('returns audio as audio content', async () => {
    const { content } = await called('run_model', {
      model: 'openai/tts-1',
      input: { voice: 'ash', input: 'hello' },
    });
    expect(content[1]).toMatchObject({ type: 'audio', mimeType: 'audio/mpeg' });
  });

  it('returns before a long run completes, and follows it later', async () => {
    const tag = newTag('agent');
    const input = { prompt: `[[sim:tag=${tag}]] ${unending}` };
    const left = (await called('run_model', { model, input, wait_seconds: 0 })).value();
    expect(left).toMatchObject({ next: expect.stringContaining('get_run') });
    await waitFor(async () => (await system.provider.accepted(tag)) === 1, {
      withinMs: 60_000,
      what: 'the submission',
    });
    const followed = called('get_run', { model, request_id: left['request_id'] });
    await system.provider.finish(tag);
    expect((await followed).value()).toMatchObject({ output: { status: 'Ready' } });
    const late = await called('cancel_run', { model, request_id: left['request_id'] });
    expect(late.value()).toMatchObject({ status: 'ALREADY_COMPLETED' });
  });

  it('cancels a run', async () => {
    const tag = newTag('stopped');
    const input = { prompt: `[[sim:tag=${tag}]] ${unending}` };
    const run = (await called('run_model', { model: 'fal/flux-dev', input, wait_seconds: 0 })).value();
    const named = { model: 'fal/flux-dev', request_id: run['request_id'] };
    expect((await called('cancel_run', named)).value()).toMatchObject({ status: 'CANCELLATION_REQUESTED' });
    const ended = await called('get_run', named);
    expect(ended).toMatchObject({ isError: true, text: expect.stringMatching(/^client_disconnected: /) });
  });

  it('starts only one run per idempotency key', async () => {
    const tag = newTag('once');
    const call = { model, input: { prompt: `[[sim:tag=${tag}]]` }, idempotency_key: tag };
    const ids = [await called('run_model', call), await called('run_model', call)].map(
      ({ value }) => value()['request_id'],
    );
    expect(new Set(ids).size).toBe(1);
    expect(await system.provider.accepted(tag)).toBe(1);
  });

  it('tells the agent what to do about a failure', async () => {
    const failures = await Promise.all([
      called('run_model', { model, input: { prompt: 1 } }),
      called('run_model', { model: 'bfl/flux-2-por', input: {} }),
      called('run_model', { model, input: { prompt: '[[sim:policy_output]]' } }),
    ]);
    expect(failures.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(failures[0]?.text).toMatch(/^invalid_input: .*"prompt".*\n.*describe_model/);
    expect(failures[1]?.text).toContain(`Did you mean ${model}`);
    expect(failures[2]?.text).toContain('The same input will be rejected again');
  });

  it('acts with the caller’s workspace and scopes only', async () => {
    expect((await post('{}', { 'x-api-key': 'rk_live_nobodys' })).status).toBe(401);
    const stranger = await system.caller();
    const run = await stranger.submit(model, '{"prompt":"mine"}');
    const other = await called('get_run', { model, request_id: run.requestId, wait_seconds: 0 });
    expect(other).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^invalid_input: .*\nCheck model and request_id: list_runs/),
    });
    expect((await called('cancel_run', { model, request_id: run.requestId })).text).toBe(other.text);
    expect((await called('get_run', { model, request_id: 'none' })).text).toContain(
      'the request_id of a run',
    );
  });

  it('rejects messages that are too large, too deep or not JSON, and does not offer a stream', async () => {
    const answers = [
      await post(JSON.stringify({ text: 'x'.repeat(1024 * 1024) })),
      await post(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`),
      await post('x'),
      await post('x', { 'content-type': 'text/plain' }),
      await fetch(`${system.gateways[0]?.url}/mcp`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([413, 400, 400, 415, 405]);
  });
});

failOnLeftovers();

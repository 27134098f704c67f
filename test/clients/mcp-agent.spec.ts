import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadCatalog } from '#catalog';
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
interface Agent {
  connect: (transport: object) => Promise<void>;
  listTools: () => Promise<{
    tools: {
      name: string;
      title?: string;
      inputSchema: { properties?: Record<string, { enum?: string[]; anyOf?: { enum?: string[] }[] }> };
      outputSchema?: object;
      annotations?: { readOnlyHint?: boolean };
    }[];
  }>;
  callTool: (call: { name: string; arguments: object }) => Promise<{
    content: { type: string; text?: string; uri?: string; mimeType?: string }[];
    structuredContent?: unknown;
    isError?: boolean;
  }>;
  close: () => Promise<void>;
}
interface AgentModule {
  Client: new (identity: { name: string; version: string }) => Agent;
  StreamableHTTPClientTransport: new (url: URL, options: { requestInit: RequestInit }) => object;
}
// A name that TypeScript does not follow: under the condition "source", types of this package are TypeScript sources.
const officialClient = '@modelcontextprotocol/client';

const untyped = 'bfl/open';
const bytesOf = (text: string) => Buffer.byteLength(text);

/** An agent with the official client, which checks each structured result against the tool's output schema. */
describe('an agent', () => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let client: Agent;

  beforeAll(async () => {
    caller = await system.caller({}, undefined, ['catalog', 'run', 'requests']);
    const { Client, StreamableHTTPClientTransport } = (await import(officialClient)) as AgentModule;
    client = new Client({ name: 'agent', version: '1' });
    const url = new URL('/mcp', system.gateways[0]?.url);
    const requestInit = { headers: { 'x-api-key': caller.key } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  });
  afterAll(() => client.close());

  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: input });
    const [first] = content;
    return {
      text: first?.text ?? '',
      links: content.filter((each) => each.type === 'resource_link'),
      value: structuredContent as Record<string, unknown>,
      isError: isError === true,
    };
  };
  /** The ids on all pages of models, each of which must fit. */
  const idsOn = async (input: Record<string, unknown>) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { text, value } = await call('find_models', { ...input, cursor });
      expect(bytesOf(text)).toBeLessThanOrEqual(3 * 1024);
      const {
        models,
        total,
        next_cursor: next,
      } = value as {
        models: { id: string }[];
        total: number;
        next_cursor?: string;
      };
      ids.push(...models.map(({ id }) => id));
      cursor = next;
      if (cursor === undefined) expect(ids).toHaveLength(total);
    } while (cursor !== undefined);
    return ids;
  };

  it('gets titles, hints and output schemas of all tools, in less than 12 KB', async () => {
    const { tools } = await client.listTools();
    expect(
      tools.filter(({ title, outputSchema, annotations }) => !title || !outputSchema || !annotations),
    ).toEqual([]);
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
      'find_models',
      'describe_model',
      'estimate_cost',
      'get_run',
      'list_runs',
    ]);
    expect(bytesOf(JSON.stringify(tools))).toBeLessThan(12 * 1024);
  });

  it('reads a description of each model of the catalog in at most 2 KB', async () => {
    const listed = await idsOn({});
    expect(new Set(listed).size).toBe(listed.length);
    // Other files may take away meanwhile what they have added.
    const lasting = new Set([...(await loadCatalog()).models.map(({ id }) => id), untyped]);
    const ids = listed.filter((id) => lasting.has(id));
    expect(ids.length).toBeGreaterThan(300);
    const tooMuch: string[] = [];
    const withoutInputs: string[] = [];
    for (const id of ids) {
      const { text, value } = await call('describe_model', { model: id });
      if (bytesOf(text) > 2048) tooMuch.push(id);
      const { inputs, price, example } = value as { inputs?: object; price?: string; example?: object };
      if (Object.keys(inputs ?? {}).length === 0 || !price || !example) withoutInputs.push(id);
    }
    // This row of the tests has no schema.
    expect({ tooMuch, withoutInputs }).toEqual({ tooMuch: [], withoutInputs: [untyped] });
    expect((await call('describe_model', { model: untyped })).text).toContain('no schema');
  });

  it('finds the models by their tasks, and each page of a task fits into 3 KB', async () => {
    const { tools } = await client.listTools();
    const found = new Set<string>();
    const { task } = tools[0]?.inputSchema.properties ?? {};
    const names = task?.enum ?? task?.anyOf?.flatMap((each) => each.enum ?? []) ?? [];
    expect(names).toContain('text-to-image');
    for (const name of names) {
      const ids = await idsOn({ task: name });
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) found.add(id);
    }
    expect(found.size).toBeGreaterThan(300);
    expect(found).not.toContain(untyped);
  });

  it.each([
    ['text-to-image', 'bfl/flux-2-pro', 'bfl/flux-kontext-pro'],
    ['edit', 'bfl/flux-kontext-pro', 'openai/dall-e-3'],
    ['text-to-video', 'luma/ray-2', 'kling/videos-lip-sync'],
    ['lip-sync', 'kling/videos-lip-sync', 'luma/ray-2'],
    ['speech', 'openai/tts-1', 'bytedance/seedance-2.0'],
    ['transcription', 'openai/whisper-1', 'openai/gpt-5'],
    ['text', 'openai/gpt-5', 'openai/whisper-1'],
  ])('finds models for the task %s, such as %s, but not %s', async (task, fits, fitsNot) => {
    const ids = await idsOn({ task });
    expect(ids).toContain(fits);
    expect(ids).not.toContain(fitsNot);
  });

  it('gets models of many providers on the first page', async () => {
    const { value } = await call('find_models', { task: 'text-to-image' });
    const { models } = value as { models: { id: string }[] };
    expect(new Set(models.map(({ id }) => id.split('/')[0])).size).toBeGreaterThan(8);
  });

  it.each([
    ['text to speech', 'openai/tts-1'],
    ['kontxt', 'bfl/flux-kontext-pro'],
    ['seadance video', 'fal/fal-seedance-2.0'],
  ])('finds close models for %s, which no model has in its name', async (query, id) => {
    expect(await idsOn({ query })).toContain(id);
  });

  it('finds nothing for words that no model has', async () => {
    expect(await idsOn({ query: 'qqqqqq' })).toEqual([]);
  });

  it('may send an input as a text of JSON, whose digits are kept', async () => {
    const input = `{ "prompt":"a red fox", "seed":9007199254740993 }`;
    const { value } = await call('run_model', { model, input });
    const sent = await caller.call('GET', `/v2/requests/${String(value['request_id'])}/input`);
    expect(sent.bytes.toString()).toBe(input);
    const wrong = await call('run_model', { model, input: 'not JSON' });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringMatching(/^invalid_input: /) });
  });

  it('estimates the cost of a run, and does not run it', async () => {
    const tag = newTag('priced');
    const { value } = await call('estimate_cost', { model, input: { prompt: `[[sim:tag=${tag}]]` } });
    expect(value).toEqual({
      expected_cents: 3,
      reserved_cents: expect.any(Number),
      max_cents: expect.any(Number),
      basis: 'reported',
    });
    expect(await system.provider.accepted(tag)).toBe(0);
    const wrong = await call('estimate_cost', { model, input: { prompt: 1 } });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('describe_model') });
  });

  it('is told of misspelled fields', async () => {
    const misspelled = { model, input: { prompt: 'a red fox', hieght: 512 } };
    for (const tool of ['estimate_cost', 'run_model'])
      expect((await call(tool, misspelled)).value).toMatchObject({ unknown_fields: 'hieght (height?)' });
  });

  it('uploads a file from base64 or a data URL and uses it in a run', async () => {
    const data = tinyImage.toString('base64');
    const [file, other] = [
      await call('upload_file', { data }),
      await call('upload_file', { data: `data:image/png;base64,${data}` }),
    ];
    expect([file.value, other.value]).toEqual(
      Array(2).fill(expect.objectContaining({ content_type: 'image/png', size: tinyImage.length })),
    );
    const { url } = file.value as { url: string };
    expect(file.links).toEqual([expect.objectContaining({ uri: url, mimeType: 'image/png' })]);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(tinyImage)).toBe(true);
    const ran = await call('run_model', { model, input: { prompt: 'in blue', input_image: url } });
    expect(ran.value).toMatchObject({ status: 'COMPLETED' });
  });

  it('uploads 700 KB in one message, and is told what is not base64', async () => {
    const bytes = Buffer.concat([tinyImage, Buffer.alloc(700_000)]);
    expect((await call('upload_file', { data: bytes.toString('base64') })).value).toMatchObject({
      size: bytes.length,
    });
    expect(await call('upload_file', { data: 'not base64!' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^invalid_input: /),
    });
  });

  it('gets a link to each file of an output, which opens', async () => {
    const { value, links } = await call('run_model', { model, input: { prompt: 'a red fox' } });
    const { files, output } = value as {
      files: { url: string; media_type: string }[];
      output: string;
    };
    // This output has a number that a program would round, so it is a text.
    const { result } = JSON.parse(output) as { result: { sample: string } };
    expect(files.map(({ url }) => url)).toEqual([result.sample]);
    expect(links).toEqual([expect.objectContaining({ uri: files[0]?.url, mimeType: files[0]?.media_type })]);
    expect((await fetch(files[0]?.url ?? '')).headers.get('content-type')).toBe(files[0]?.media_type);
  });

  it('lists its runs', async () => {
    const { value: ran } = await call('run_model', { model: 'fal/flux-dev', input: { prompt: 'listed' } });
    const { value } = await call('list_runs', { model: 'fal/flux-dev', limit: 1 });
    expect(value['runs']).toEqual([
      expect.objectContaining({ request_id: ran['request_id'], status: 'COMPLETED', outcome: 'succeeded' }),
    ]);
    const next = await call('list_runs', {
      limit: 1,
      cursor: (await call('list_runs', { limit: 1 })).value['next_cursor'],
    });
    expect(next.value['runs']).toHaveLength(1);
  });

  it('leaves a long run, and finds it again in the list', async () => {
    const tag = newTag('left');
    const input = { prompt: `[[sim:tag=${tag}]] ${unending}` };
    const { value: left } = await call('run_model', { model, input, wait_seconds: 0 });
    const { value } = await call('list_runs', { model, limit: 1 });
    expect(value['runs']).toEqual([expect.objectContaining({ request_id: left['request_id'] })]);
    await waitFor(async () => (await system.provider.accepted(tag)) === 1, {
      withinMs: 60_000,
      what: 'the submission',
    });
    const { value: cancelled } = await call('cancel_run', { model, request_id: left['request_id'] });
    expect(cancelled).toMatchObject({ status: 'CANCELLATION_REQUESTED' });
    await system.provider.finish(tag);
  });
});

failOnLeftovers();

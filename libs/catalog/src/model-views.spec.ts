import { createHash } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { type ProviderDefinition, providerList } from '#providers';
import { routerModelDetail, routerModelListEntry } from '#schemas';
import { loadCatalog } from './load-catalog.js';
import { type Model, servedBy } from './model.js';
import { detail, entry, type Generation, openApiDocument } from './model-views.js';
import { modelOfRow } from './testing/model-of-row.js';

const row = { id: 'a/b', upstream: { path: 'b' }, charges_on_policy_rejection: 'no', price: { usd: 0.01 } };
const input = { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] };
const output = { media_type: 'application/json', schema: { type: 'object' } };
const authored = modelOfRow({ ...row, input, output, example: { prompt: 'a cat' } });
const unauthored = modelOfRow(row);
const dayMs = 24 * 60 * 60 * 1000;
const dayFromNow = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
const unauthorized = { description: 'No credential.' };
const frame = {
  servers: [{ url: '/' }],
  externalDocs: { description: 'The service.', url: '/openapi.json' },
  operation: { security: [{ key: [] }], responses: { '200': { headers: {} }, '401': unauthorized } },
  components: { securitySchemes: { key: {} } },
};
const read = (model: Model, generation: Generation): unknown =>
  JSON.parse(openApiDocument(model, generation, frame).bytes.toString());
const streamOf = (model: Model): unknown =>
  (read(model, 'v2') as { 'x-service-stream'?: object })['x-service-stream'];

describe('openApiDocument', () => {
  it('of v1 describes the input', () => {
    expect(read(authored, 'v1')).toEqual({
      openapi: '3.1.0',
      info: { title: 'a/b', version: expect.stringMatching(/^[0-9a-f]{12}$/) },
      servers: frame.servers,
      externalDocs: frame.externalDocs,
      components: frame.components,
      'x-service-input-schema-authored': true,
      'x-service-price': { text: expect.stringContaining('$'), usd: expect.any(Number), times: [], plus: [] },
      paths: {
        '/v1/models/a/b': {
          post: {
            operationId: 'run',
            summary: 'Run a/b',
            requestBody: {
              required: true,
              content: { 'application/json': { schema: authored.input, example: { prompt: 'a cat' } } },
            },
            security: frame.operation.security,
            // The result is described only in v2.
            responses: {
              '200': {
                description: expect.any(String),
                headers: {},
                links: {
                  SubmitRun: {
                    operationRef:
                      '/openapi.json#/paths/~1v2~1models~1%7Bprovider%7D~1%7Bmodel%7D~1requests/post',
                    parameters: { provider: 'a', model: 'b' },
                    requestBody: '$request.body',
                    description: expect.any(String),
                  },
                },
              },
              '401': unauthorized,
            },
          },
        },
      },
    });
    expect(authored.input).toMatchObject(input);
  });

  it('has the texts of the row, and a version that changes with the row', () => {
    const told = {
      ...row,
      title: 'Beta',
      description: 'Paints.',
      modalities: { in: ['text'], out: ['image', '3d'] },
      ends: dayFromNow(40),
      successor: 'a/c',
    };
    expect(read(modelOfRow(told), 'v1')).toMatchObject({
      info: { description: '**Beta**\n\nPaints.' },
      'x-service-input-modalities': ['text'],
      'x-service-output-modalities': ['image', '3d'],
    });
    const versions = [told, { ...told, title: 'B' }, { ...told }].map(
      (each) => (read(modelOfRow(each), 'v1') as { info: { version: string } }).info.version,
    );
    expect(new Set(versions).size).toBe(2);
  });

  it('announces the end of the model thirty days in advance, without a new row', () => {
    const ends = dayFromNow(30);
    const ending = modelOfRow({ ...row, ends, successor: 'a/c' });
    jest.useFakeTimers({ now: Date.parse(ends) - 31 * dayMs });
    try {
      expect(read(ending, 'v2')).not.toHaveProperty('x-service-lifecycle');
      jest.advanceTimersByTime(dayMs);
      expect(read(ending, 'v2')).toMatchObject({
        info: { description: `Ends on ${ends}. From that day on, runs are rejected. Use a/c instead.` },
        'x-service-lifecycle': { ends, successor: 'a/c' },
      });
    } finally {
      jest.useRealTimers();
    }
  });

  it('of v2 describes the result too', () => {
    expect(read(authored, 'v2')).toMatchObject({
      paths: {
        '/v2/models/a/b': {
          post: {
            requestBody: { content: { 'application/json': { schema: input } } },
            responses: { '200': { content: { 'application/json': { schema: { type: 'object' } } } } },
          },
        },
      },
    });
  });

  it.each([
    [{ member: 'stream' }, ['part']],
    [{ alt: 'sse' }, ['alt', 'part']],
    [undefined, ['part']],
  ] as const)('of v2 says that a model streams on request of %j', (request, names) => {
    const definition = {
      ...(providerList[0] as ProviderDefinition),
      refusesTrue: undefined,
      inputHeaders: undefined,
    };
    const model = servedBy(modelOfRow({ ...row, input, output, example: { prompt: 'a cat' } }), {
      ...definition,
      streams: () => request && { request, maxTokens: [], text: [] },
    });
    const parameters = [{ name: 'alt' }, { name: 'part' }];
    const ofRun = { ...frame, operation: { ...frame.operation, parameters } };
    const { paths } = JSON.parse(openApiDocument(model, 'v2', ofRun).bytes.toString()) as {
      paths: Record<string, { post: { parameters: object; responses: { '200': { content: object } } } }>;
    };
    const { post } = paths['/v2/models/a/b'] ?? {};
    expect(post?.parameters).toEqual(names.map((name) => ({ name })));
    expect(Object.keys(post?.responses['200'].content ?? {})).toEqual([
      'application/json',
      ...(request ? ['text/event-stream'] : []),
    ]);
  });

  it('of a model lists the headers that its provider reads as a part of the input', () => {
    const ofRun = { ...frame, operation: { ...frame.operation, parameters: [{ name: 'part' }] } };
    const model = servedBy(modelOfRow({ ...row, input, output, example: { prompt: 'a cat' } }), {
      ...(providerList[0] as ProviderDefinition),
      inputHeaders: { 'anthropic-beta': { priced: [] } },
      refusesTrue: undefined,
    });
    const { paths } = JSON.parse(openApiDocument(model, 'v2', ofRun).bytes.toString()) as {
      paths: Record<string, { post: { parameters: object[] } }>;
    };
    expect(paths['/v2/models/a/b']?.post.parameters).toContainEqual(
      expect.objectContaining({ name: 'anthropic-beta', in: 'header', 'x-service-input-header': true }),
    );
  });

  it('of every built-in model that streams says how, and where the text is', async () => {
    const { models } = await loadCatalog();
    const streaming = models.filter(({ stream }) => stream !== undefined && stream.maxTokens.length > 0);
    expect(streaming.length).toBeGreaterThan(30);
    const spoken = {
      anthropic: '/delta/text',
      google: '/candidates/*/content/parts/*/text',
      openrouter: '/choices/*/delta/content',
      chat: '/choices/*/delta/content',
    };
    for (const model of streaming) {
      const request = model.provider === 'google' ? { query: 'alt=sse' } : { member: 'stream' };
      const names = [model.provider, model.upstream['protocol']];
      const place = Object.entries(spoken).find(([name]) => names.includes(name))?.[1] ?? '/delta';
      expect([model.id, streamOf(model)]).toEqual([
        model.id,
        { ...request, text: expect.arrayContaining([place]) },
      ]);
      // Another server of the model has its text at the same places.
      const servers = models.filter(({ id, stream }) => model.servers.includes(id) && stream !== undefined);
      for (const server of servers)
        expect([server.id, streamOf(server)]).toEqual([server.id, streamOf(model)]);
    }
    const media = models.filter(({ stream }) => stream?.maxTokens.length === 0);
    expect(new Set(media.map((model) => JSON.stringify([model.upstream['path'], streamOf(model)])))).toEqual(
      new Set([
        '["images/generations",{"member":"stream","text":[]}]',
        '["images/edits",{"member":"stream","text":[]}]',
        '["audio/transcriptions",{"member":"stream","text":["/delta"]}]',
        '["audio/speech",{"member":"stream_format","value":"sse","text":[]}]',
        '["gemini-3-pro-image",{"query":"alt=sse","text":["/candidates/*/content/parts/*/text"]}]',
        '["gemini-3.1-flash-image",{"query":"alt=sse","text":["/candidates/*/content/parts/*/text"]}]',
        '["gemini-3.1-flash-lite-image",{"query":"alt=sse","text":["/candidates/*/content/parts/*/text"]}]',
        '["gemini-nano-banana-2.1",{"query":"alt=sse","text":["/candidates/*/content/parts/*/text"]}]',
      ]),
    );
    const silent = models.filter(({ stream }) => stream === undefined);
    expect(silent.filter((model) => streamOf(model) !== undefined)).toEqual([]);
  });

  it('of a model without a schema accepts any object and says that no schema is authored', () => {
    expect(read(unauthored, 'v2')).toMatchObject({
      'x-service-input-schema-authored': false,
      paths: {
        '/v2/models/a/b': {
          post: {
            requestBody: {
              content: { 'application/json': { schema: { type: 'object', additionalProperties: true } } },
            },
            responses: { '200': { content: { '*/*': {} } } },
          },
        },
      },
    });
  });

  it('has a strong tag of its bytes, different for each generation, and is rendered once', () => {
    const { bytes, etag } = openApiDocument(authored, 'v2', frame);
    expect(etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`);
    expect(openApiDocument(authored, 'v1', frame).etag).not.toBe(etag);
    expect(openApiDocument(authored, 'v2', frame).bytes).toBe(bytes);
  });

  it('has the sample files of the example at the address of the service', () => {
    const url = 'https://router.example/console/samples/cat.jpg';
    const sampled = modelOfRow({ ...row, input, output, example: { prompt: url, seeds: [{ url }] } });
    const { bytes } = openApiDocument(sampled, 'v2', { ...frame, servers: [{ url: 'http://here:8080' }] });
    const here = 'http://here:8080/console/samples/cat.jpg';
    expect(bytes.toString()).toContain(
      `"example":${JSON.stringify({ prompt: here, seeds: [{ url: here }] })}`,
    );
  });

  it('has equal bytes for an equal row of another revision', () => {
    const again = modelOfRow({ ...row, input, output, example: { prompt: 'a cat' } });
    expect(openApiDocument(again, 'v2', frame)).toEqual(openApiDocument(authored, 'v2', frame));
  });
});

describe('entry', () => {
  it('has the wire shape', () => {
    expect(entry(authored)).toEqual({
      id: 'a/b',
      provider: 'a',
      model: 'b',
      billing: { charges_on_policy_rejection: 'no' },
    });
    expect(routerModelListEntry.parse(entry(authored))).toEqual(entry(authored));
  });
});

describe('detail', () => {
  it.each(['v1', 'v2'] as const)('links to the document of %s', (generation) => {
    const found = detail(authored, { publicBaseUrl: 'https://router.example/', generation });
    expect(found.input_schema_url).toBe(`https://router.example/${generation}/models/a/b/openapi.json`);
    expect(routerModelDetail.parse(found)).toEqual(found);
  });

  it.each([
    ['no schema is authored', unauthored, 'https://router.example'],
    ['the service is not https', authored, 'http://router.example'],
    ['the service has no base URL', authored, undefined],
    ['the URL would be too long', authored, `https://router.example/${'x'.repeat(2048)}`],
  ])('has no URL when %s', (_, model, publicBaseUrl) =>
    expect(detail(model, { publicBaseUrl, generation: 'v2' })).toEqual(entry(model)),
  );
});

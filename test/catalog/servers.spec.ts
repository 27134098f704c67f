import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Caller, failOnLeftovers, sharedSystem, eitherTransport, waitFor } from '../harness/index.js';
import { Lab } from './lab.js';
import { provider, row } from './own-rows.js';

const atOnce = 'file_results: true\n';
/** The system gives a key to each provider that it recognises by its first line, so this line hides one. */
const withoutKey = (text: string) => text.replace('\nprovider:', '\n"provider":');
const servedBy = (text: string, ...ids: string[]) => `${text}servers: [${ids.join(', ')}]\n`;
const otherInput = `
id: fourth/write
upstream: { path: now/write }
charges_on_policy_rejection: no
price: { usd: 0.004 }
input: { type: object, required: [text], properties: { text: { type: string } } }
example: { text: a cat }
`;

describe.each(eitherTransport())('a model with several servers on %s', (transport) => {
  const system = sharedSystem(transport);
  let first: Lab;
  let second: Lab;
  let caller: Caller & { workspaceId: string };

  beforeAll(async () => {
    first = await Lab.start();
    second = await Lab.start();
    // Nothing listens on port 1.
    const gone = 'http://127.0.0.1:1';
    await system.serve({
      'first.yaml': provider('first', first.url, atOnce),
      'second.yaml': provider('second', second.url, atOnce),
      'third.yaml': provider('third', gone, atOnce),
      'fourth.yaml': provider('fourth', second.url, atOnce),
      'keyless.yaml': withoutKey(provider('keyless', gone, atOnce)),
      'first-paint.yaml': servedBy(
        row('first/paint', 'now/first', 1_000),
        'second/paint',
        'fourth/write',
        'keyless/paint',
      ),
      'first-lost.yaml': servedBy(row('first/lost', 'lost/first', 1_000), 'second/paint'),
      'second-paint.yaml': row('second/paint', 'now/second', 7_000).replace(
        ", seed: { type: [integer, 'null'] }",
        '',
      ),
      'third-paint.yaml': servedBy(row('third/paint', 'now/third', 3_000), 'second/paint'),
      'third-brief.yaml':
        servedBy(row('third/brief', 'now/third', 3_000), 'second/paint') + 'budget_seconds: 1\n',
      'fourth-write.yaml': otherInput,
      'keyless-paint.yaml': servedBy(row('keyless/paint', 'now/keyless', 2_000), 'second/paint'),
      'keyless-alone.yaml': row('keyless/alone', 'now/alone', 2_000),
    });
    caller = await system.caller();
    // A gateway learns within two seconds what the workers report about a new catalog.
    for (const gateway of system.gateways.keys())
      await waitFor(async () => !(await caller.listed(gateway)).includes('keyless/alone'), {
        withinMs: 20_000,
        what: 'the gateways to learn that the provider has no key',
      });
  });
  afterAll(() => Promise.all([first.stop(), second.stop()]));
  beforeEach(() => {
    first.calls.length = 0;
    second.calls.length = 0;
  });

  const run = (model: string, body: string, headers = {}) =>
    caller.call('POST', `/v2/models/${model}`, { body, headers });
  const paths = () => [first, second].map(({ submissions }) => submissions.map((each) => each.path));
  const books = async (model: string) => {
    const [entry] = await system.sql(
      `SELECT audit_record.provider, cost_micros::integer AS reserved, billed_micros::integer AS billed, note
        FROM audit_record LEFT JOIN ledger_entry USING (run_id)
        WHERE audit_record.workspace_id = $1 AND model = $2 ORDER BY completed_at DESC LIMIT 1`,
      [caller.workspaceId, model],
    );
    return entry;
  };

  it('is served by its own provider unless one is picked, and reserves the highest price of all servers', async () => {
    const answer = await run('first/paint', '{"prompt":"a"}');
    expect([answer.status, answer.headers.get('x-service-model-provider')]).toEqual([200, 'first']);
    expect(paths()).toEqual([['/now/first'], []]);
    expect(await books('first/paint')).toEqual({
      provider: 'first',
      reserved: 7_000,
      billed: 1_000,
      note: 'first/paint by first',
    });
  });

  it('is served by the picked server, at that server’s price', async () => {
    const submitted = await caller.submit('first/paint', '{"prompt":"a"}', {
      query: '?model_provider=second',
    });
    await caller.completed(submitted);
    const collected = await caller.collect(submitted);
    expect([collected.status, collected.headers.get('x-service-model-provider')]).toEqual([200, 'second']);
    expect(paths()).toEqual([[], ['/now/second']]);
    expect(await books('first/paint')).toMatchObject({ provider: 'second', reserved: 7_000, billed: 7_000 });
  });

  it('has its input validated by the picked server', async () => {
    const refused = await run('first/paint?model_provider=fourth', '{"prompt":"a"}');
    expect([refused.status, refused.json()['detail']]).toMatchObject([
      422,
      [{ loc: ['body', 'text'], type: 'missing' }],
    ]);
    expect((await run('first/paint?model_provider=fourth', '{"text":"a"}')).status).toBe(200);
  });

  it('is served by the first server that has a key', async () => {
    const answer = await run('keyless/paint', '{"prompt":"a"}');
    expect([answer.status, answer.headers.get('x-service-model-provider')]).toEqual([200, 'second']);
    expect(await books('keyless/paint')).toMatchObject({ provider: 'second', reserved: 7_000 });
    const listed = await caller.listed();
    expect([listed.includes('keyless/paint'), listed.includes('keyless/alone')]).toEqual([true, false]);
  });

  it.each([
    [
      'first/paint?model_provider=nobody',
      400,
      'model_provider must be one of first, second, fourth, keyless.',
    ],
    ['second/paint?model_provider=first', 400, 'model_provider must be one of second.'],
    ['first/paint?model_provider=second&model_provider=first', 400, 'model_provider must not be repeated.'],
    ['first/paint?model_provider=keyless', 403, 'The provider keyless is not set up on this router.'],
  ])('%s is %i', async (path, status, detail) => {
    const refused = await run(path, '{"prompt":"a"}');
    expect([refused.status, refused.json()['detail']]).toEqual([status, detail]);
    expect(paths()).toEqual([[], []]);
  });

  it('is never served by a model that the caller may not run', async () => {
    const own = await system.caller({ visible: ['first/*'], runnable: ['first/*'] });
    const answer = await own.call('POST', '/v2/models/first/paint?model_provider=second', {
      body: '{"prompt":"a"}',
    });
    expect([answer.status, answer.json()['detail']]).toEqual([400, 'model_provider must be one of first.']);
  });

  it('rejects a used Idempotency-Key for another server', async () => {
    const headers = { 'idempotency-key': `servers-${transport}` };
    expect((await run('first/paint?model_provider=second', '{"prompt":"a"}', headers)).status).toBe(200);
    expect((await run('first/paint', '{"prompt":"a"}', headers)).status).toBe(409);
    const repeated = await run('first/paint?model_provider=second', '{"prompt":"a"}', headers);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(repeated.headers.get('x-service-model-provider')).toBe('second');
  });

  it('falls back to the next server when the connection is refused, and bills that server’s price', async () => {
    const answer = await run('third/paint', '{"prompt":"a"}');
    expect([answer.status, answer.headers.get('x-service-model-provider')]).toEqual([200, 'second']);
    expect(answer.bytes.toString()).toBe('{"echo": {"prompt":"a"}}');
    expect(paths()).toEqual([[], ['/now/second']]);
    expect(await books('third/paint')).toEqual({
      provider: 'second',
      reserved: 7_000,
      billed: 7_000,
      note: 'third/paint by second',
    });
  });

  it.each([
    ['was picked', '?model_provider=third', '{"prompt":"a"}'],
    ['alone accepts a field', '', '{"prompt":"a","seed":1}'],
  ])('does not fall back from a server that %s', async (_what, query, body) => {
    const answer = await run(`third/brief${query}`, body);
    expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
    expect(paths()).toEqual([[], []]);
  });

  it('does not fall back after a lost connection, because the run may have arrived', async () => {
    const answer = await run('first/lost', '{"prompt":"a"}');
    expect([answer.status, answer.bucket]).toEqual([502, 'provider_error']);
    expect(answer.headers.get('x-service-model-provider')).toBe('first');
    expect(paths()).toEqual([['/lost/first'], []]);
  });

  it('lists its servers in its document', async () => {
    const document = (await caller.call('GET', '/v2/models/first/paint/openapi.json')).json() as {
      paths: Record<string, { post: { parameters: { name: string; schema: object }[] } }>;
    };
    expect(document).toMatchObject({
      'x-service-servers': [
        { provider: 'first', model: 'first/paint' },
        { provider: 'second', model: 'second/paint' },
        { provider: 'fourth', model: 'fourth/write' },
        { provider: 'keyless', model: 'keyless/paint' },
      ],
    });
    const { parameters } = document.paths['/v2/models/first/paint']?.post ?? { parameters: [] };
    expect(parameters.find(({ name }) => name === 'model_provider')?.schema).toEqual({
      type: 'string',
      enum: ['first', 'second', 'fourth', 'keyless'],
    });
    const alone = (await caller.call('GET', '/v2/models/second/paint/openapi.json')).bytes.toString();
    expect(alone).not.toContain('model_provider');
  });
});

failOnLeftovers();

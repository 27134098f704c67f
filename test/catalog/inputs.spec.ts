import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Caller, failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { Lab } from './lab.js';
import { provider, row } from './own-rows.js';

const naming = 'constants: { model: paint-cheap, version: 2 }\nrefused_fields: [/options/target]\n';
const unauthored = (id: string, more = '') =>
  `id: ${id}\nupstream: { path: now/x }\ncharges_on_policy_rejection: no\nprice: { usd: 0.01 }\n${more}`;
const encoded = (name: string, url: string, encode: string) =>
  provider(name, url, 'file_results: true\n').replace(
    "{upstream.path}' }",
    `{upstream.path}', encode: ${encode} }`,
  );
const today = new Date().toISOString().slice(0, 10);

describe.each(transports().slice(0, 1))('inputs of models of the catalog on %s', (transport) => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: Caller;

  beforeAll(async () => {
    upstream = await Lab.start();
    await system.serve({
      'inputs.yaml': provider('inputs', upstream.url, ''),
      'wrapped.yaml': encoded('wrapped', upstream.url, '{ envelope: input }'),
      'filled.yaml': encoded('filled', upstream.url, '{ form: {} }'),
      'cheap.yaml': row('inputs/cheap', 'now/cheap', 1_000) + naming,
      'any.yaml': unauthored('inputs/any'),
      'wrapped-cheap.yaml': unauthored('wrapped/cheap', naming),
      'filled-cheap.yaml': unauthored('filled/cheap', naming).replace('now/', 'sound/'),
      'gone.yaml': 'id: inputs/gone\nended: 2026-01-31\nsuccessor: inputs/any\n',
      'going.yaml': unauthored('inputs/going', `ends: ${today}\nsuccessor: inputs/cheap\n`),
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());

  const run = (model: string, body: string) => caller.call('POST', `/v2/models/${model}`, { body });
  async function forwarded(model: string, body: string): Promise<string | undefined> {
    upstream.calls.length = 0;
    expect((await run(model, body)).status).toBe(200);
    return upstream.submissions[0]?.text;
  }

  it.each([
    ['{"prompt":"a cat"}', '{"model":"paint-cheap","version":2,"prompt":"a cat"}'],
    [
      ' {\n"prompt" : "\\u0061", "seed": 1.0e2 } ',
      ' {"model":"paint-cheap","version":2,\n"prompt" : "\\u0061", "seed": 1.0e2 } ',
    ],
    ['{"prompt":"a","version":2.0}', '{"model":"paint-cheap","prompt":"a","version":2.0}'],
    ['{"prompt":"a","model":"paint-cheap","version":2}', '{"prompt":"a","model":"paint-cheap","version":2}'],
    [
      '{"prompt":"a","tomorrow":[18446744073709551615],"tomorrow":{"target":1},"options":{}}',
      '{"model":"paint-cheap","version":2,"prompt":"a","tomorrow":[18446744073709551615],"tomorrow":{"target":1},"options":{}}',
    ],
  ])('%s is sent with its missing constants, and otherwise byte for byte', async (body, sent) => {
    expect(await forwarded('inputs/cheap', body)).toBe(sent);
  });

  it('adds the constants in every encoding, even to an empty object', async () => {
    expect(await forwarded('inputs/any', ' {} ')).toBe(' {} ');
    expect(await forwarded('wrapped/cheap', '{}')).toBe('{"input":{"model":"paint-cheap","version":2}}');
    const form = await forwarded('filled/cheap', '{"prompt":"a cat"}');
    expect(form?.match(/name="\w+"\r\n\r\n[^\r]*/g)).toEqual([
      'name="model"\r\n\r\npaint-cheap',
      'name="version"\r\n\r\n2',
      'name="prompt"\r\n\r\na cat',
    ]);
  });

  it.each([
    ['inputs/cheap', '{"prompt":"a","model":"paint-dear"}', ['model', 'literal_error']],
    ['inputs/cheap', '{"prompt":"a","model":"paint-dear","model":"paint-cheap"}', ['model', 'literal_error']],
    ['inputs/cheap', '{"prompt":"a","model":"paint-cheap","model":"paint-dear"}', ['model', 'literal_error']],
    ['inputs/cheap', '{"prompt":"a","options":{"target":"gs://x"}}', ['options.target', 'extra_forbidden']],
    ['inputs/cheap', '{"prompt":"a","Webhook_URL":"https://a.example"}', ['Webhook_URL', 'extra_forbidden']],
    ['inputs/any', '{"callbackUrl":"https://a.example"}', ['callbackUrl', 'extra_forbidden']],
  ])('%s refuses %s', async (model, body, [place, type]) => {
    upstream.calls.length = 0;
    for (const path of [`/v2/models/${model}`, `/v2/models/${model}/requests`]) {
      const refused = await caller.call('POST', path, { body });
      expect([path, refused.status, refused.json()['detail']]).toMatchObject([
        path,
        422,
        [{ loc: ['body', ...(place?.split('.') ?? [])], type }],
      ]);
    }
    expect(upstream.submissions).toEqual([]);
  });

  it.each([
    ['inputs/gone', 'inputs/any'],
    ['inputs/going', 'inputs/cheap'],
  ])('%s has ended: every route answers 404 and suggests its successor first', async (model, successor) => {
    const calls = [
      await caller.call('GET', `/v2/models/${model}`),
      await caller.call('GET', `/v2/models/${model}/openapi.json`),
      await run(model, '{}'),
      await caller.call('POST', `/v2/models/${model}/requests`, { body: '{}' }),
    ];
    for (const { status, headers, bytes } of calls) {
      expect([status, headers.get('x-service-error-type')]).toEqual([404, 'model_not_found']);
      expect(bytes.toString()).toMatch(new RegExp(`Did you mean ${successor}`));
    }
    expect(await caller.listed()).not.toContain(model);
  });
});

failOnLeftovers();

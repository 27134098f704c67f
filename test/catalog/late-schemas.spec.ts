import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Caller, failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { Lab } from './lab.js';
import { provider, row } from './own-rows.js';

const document = JSON.stringify({
  Input: {
    type: 'object',
    required: ['prompt'],
    properties: { prompt: { type: 'string' }, seed: { type: ['integer', 'null'] } },
  },
});
const late = (id: string, file: string) =>
  row(id, 'now/late', 1_000).replace(/^input: .*$/m, `input: { $ref: '${file}#/Input' }`);

describe.each(transports().slice(0, 1))('models whose schemas are read on first use on %s', (transport) => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: Caller;

  beforeAll(async () => {
    upstream = await Lab.start();
    await system.serve({
      'late.yaml': provider('late', upstream.url, ''),
      'late-whole.json': document,
      'late-whole.yaml': late('late/whole', 'late-whole.json'),
      'late-eager.yaml': row('late/eager', 'now/late', 1_000),
      'late-broken.json': '{"Input":',
      'late-broken.yaml': late('late/broken', 'late-broken.json'),
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());

  const run = (model: string, body: string) => caller.call('POST', `/v2/models/${model}`, { body });
  const documentOf = (model: string) => caller.call('GET', `/v2/models/${model}/openapi.json`);

  it('check concurrent first calls and answer the same 422 as a row with its schema in it', async () => {
    const body = '{"seed":"x"}';
    const wanted = await run('late/eager', body);
    expect(wanted.status).toBe(422);
    const answers = await Promise.all(Array.from({ length: 8 }, () => run('late/whole', body)));
    for (const answer of answers) expect([answer.status, answer.json()]).toEqual([422, wanted.json()]);
    expect((await run('late/whole', '{"prompt":"a cat"}')).status).toBe(200);
  });

  it('check large bodies in a thread with the same schema', async () => {
    const large = JSON.stringify({ seed: 'x', more: 'x'.repeat(300_000) });
    const [one, other] = await Promise.all([run('late/whole', large), run('late/eager', large)]);
    expect(one.status).toBe(422);
    expect([one.status, one.json()]).toEqual([other.status, other.json()]);
  });

  it('answer 503 for a document that cannot be used, and are listed', async () => {
    for (const answer of [await run('late/broken', '{"prompt":"x"}'), await documentOf('late/broken')]) {
      expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
      expect(answer.json()['detail']).toBe(
        'The schema of this model cannot be read at the moment; retry later.',
      );
    }
    expect((await caller.call('GET', '/v2/models/late/broken')).status).toBe(200);
    const page = (await caller.call('GET', '/v2/models?provider=late')).json();
    expect(page['data']).toContainEqual(expect.objectContaining({ id: 'late/broken' }));
  });
});

failOnLeftovers();

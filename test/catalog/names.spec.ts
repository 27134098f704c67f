import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { failOnLeftovers, sharedSystem, type TestCaller, transports } from '../harness/index.js';
import { Lab } from './lab.js';
import { provider, row } from './own-rows.js';

const names = 'aliases: [naming/clip, naming-ai/clip/dev]\nprovider: naming\n';
const variants = 'variants:\n  - { contains: [/image], upstream: { path: now/from-image } }\n';

describe.each(transports().slice(0, 1))('the names of a model on %s', (transport) => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: TestCaller;

  beforeAll(async () => {
    upstream = await Lab.start();
    await system.serve({
      'naming.yaml': provider('naming', upstream.url, ''),
      'clip.yaml': row('public/clip', 'now/from-text', 1_000) + names + variants,
      'gone.yaml': 'id: public/gone\naliases: [naming/gone]\nended: 2026-01-31\nsuccessor: public/clip\n',
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());

  const entitled = async (glob: string) => {
    const other = await system.caller({ visible: [glob], runnable: [glob] });
    return (await other.call('POST', '/v2/models/naming/clip', { body: '{"prompt":"a cat"}' })).status;
  };
  const submit = (model: string, key: string) =>
    caller.call('POST', `/v2/models/${model}/requests`, {
      body: '{"prompt":"a cat"}',
      headers: { 'idempotency-key': key },
    });

  it('belong to one entry, whose provider is the first segment of its id', async () => {
    const listed = await caller.listed();
    expect(listed).toContain('public/clip');
    expect(listed.filter((id) => id.startsWith('naming'))).toEqual([]);
    for (const path of ['/v2/models/naming/clip', '/v2/models/public/clip']) {
      const entry = { id: 'public/clip', provider: 'public', model: 'clip' };
      expect((await caller.call('GET', path)).json()).toMatchObject(entry);
    }
    const document = await caller.call('GET', '/v2/models/naming/clip/openapi.json');
    expect(document.json()['info']).toMatchObject({ title: 'public/clip' });
  });

  it('share an Idempotency-Key, and the run’s URLs contain the id', async () => {
    const first = await submit('naming/clip', 'one-run');
    const handle = first.json() as Record<string, string>;
    expect(first.status).toBe(201);
    const statusPath = `/v2/models/public/clip/requests/${handle['request_id']}/status`;
    expect(handle['status_url']).toContain(statusPath);
    const again = await submit('public/clip', 'one-run');
    expect([again.headers.get('idempotent-replayed'), again.json()]).toEqual(['true', handle]);
    const runs = await system.sql('SELECT provider, model FROM run WHERE id = $1', [handle['request_id']]);
    expect(runs).toEqual([{ provider: 'naming', model: 'public/clip' }]);
    for (const model of ['naming/clip', 'public/clip']) {
      const status = await caller.call('GET', `/v2/models/${model}/requests/${handle['request_id']}/status`);
      expect([status.status, status.json()['status_url']]).toEqual([
        200,
        expect.stringContaining(statusPath),
      ]);
    }
    const wrong = await caller.call(
      'GET',
      `/v2/models/naming-ai/clip/requests/${handle['request_id']}/status`,
    );
    expect(wrong.status).toBe(404);
    const requestId = handle['request_id'] ?? '';
    await caller.completed({ model: 'naming/clip', requestId, body: '' });
  });

  it.each(['naming-ai/clip/dev', 'naming/gone', 'public/gone'])('answer %s with the id', async (name) => {
    const answer = await caller.call('POST', `/v2/models/${name}`, { body: '{"prompt":"a cat"}' });
    expect([answer.status, answer.bytes.toString()]).toEqual([
      404,
      expect.stringMatching(/Did you mean public\/clip/),
    ]);
  });

  it('are visible and runnable for a caller that is entitled to the id', async () => {
    expect([await entitled('public/*'), await entitled('naming/*')]).toEqual([200, 404]);
  });

  it.each([
    ['{"prompt":"a cat","image":null}', '/now/from-text'],
    ['{"prompt":"a cat","image":"aGVsbG8="}', '/now/from-image'],
  ])('an input %s is sent to %s', async (body, address) => {
    upstream.calls.length = 0;
    expect((await caller.call('POST', '/v2/models/naming/clip', { body })).status).toBe(200);
    expect(upstream.submissions).toMatchObject([{ path: address, text: body }]);
  });

  it('lead a retry to its run after the model has ended, and start no new run', async () => {
    const first = await submit('naming/clip', 'to-the-end');
    await system.serve({
      'naming.yaml': provider('naming', upstream.url, ''),
      'clip.yaml': 'id: public/clip\naliases: [naming/clip]\nended: 2026-01-31\n',
    });
    for (const name of ['naming/clip', 'public/clip']) {
      const again = await submit(name, 'to-the-end');
      expect([again.status, again.headers.get('idempotent-replayed'), again.json()]).toEqual([
        201,
        'true',
        first.json(),
      ]);
      expect((await submit(name, 'another')).status).toBe(404);
    }
    await caller.completed({ model: 'public/clip', requestId: String(first.json()['request_id']), body: '' });
  });
});

failOnLeftovers();

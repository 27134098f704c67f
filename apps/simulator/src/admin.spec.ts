import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { call, startWithCaller, type Caller } from './testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller()));
beforeEach(async () => void (await caller.admin('/reset', {})));
afterAll(() => caller.simulator.close());

describe('GET /ledger', () => {
  it('records the bytes, their hash and the headers, but never a key', async () => {
    const body = '{ "prompt" : "a [[sim:tag=t]]",  "seed": 1.0, "seed": 2 }';
    await caller.bfl(body);
    const [entry] = await caller.entries();
    expect(entry).toMatchObject({
      provider: 'bfl',
      model: 'flux-2-pro',
      path: '/bfl/v1/flux-2-pro',
      order: 1,
      tag: 't',
      prompt: 'a [[sim:tag=t]]',
      attempt: 1,
      state: 'running',
      pollCount: 0,
      bodyBase64: Buffer.from(body).toString('base64'),
      bodySha256: createHash('sha256').update(body).digest('hex'),
      headers: { 'content-type': 'application/json' },
    });
    expect(JSON.stringify(entry)).not.toContain('x-key');
  });

  it('filters by provider and tag, in order of acceptance', async () => {
    await caller.bfl({ prompt: '[[sim:tag=one]]' });
    await caller.fal({ prompt: '[[sim:tag=one]]' });
    await caller.fal({ prompt: '[[sim:tag=two]]' });
    expect((await caller.entries()).map((entry) => entry['order'])).toEqual([1, 2, 3]);
    expect(await caller.entries('?provider=fal')).toHaveLength(2);
    expect(await caller.entries('?provider=fal&tag=one')).toHaveLength(1);
    expect(await caller.entries('?tag=none')).toEqual([]);
  });
});

describe('GET /peaks', () => {
  it('counts concurrent generations per tag', async () => {
    for (let each = 0; each < 3; each += 1)
      await caller.bfl({ prompt: `${each} [[sim:tag=p]][[sim:takes=1000]]` });
    await caller.advance(1000);
    await caller.fal({ prompt: '[[sim:tag=p]][[sim:takes=1000]]' });
    await caller.fal({ prompt: '[[sim:tag=q]]' });
    const startOrder = (await caller.entries('?tag=p')).map((entry) => entry['id']);
    expect((await caller.admin('/peaks?tag=p')).json).toEqual({
      tag: 'p',
      accepted: 4,
      live: 1,
      peak: 3,
      startOrder,
    });
  });
});

describe('GET /requests', () => {
  it('lists every call to providers, but not those to the admin routes', async () => {
    const { json } = await caller.bfl({ prompt: 'a' });
    await call(String(json['polling_url']));
    await call(`${caller.simulator.api}/bfl/v1/x`, { method: 'POST' });
    expect((await caller.admin('/requests')).json).toMatchObject({
      total: 3,
      dropped: 0,
      violations: [],
      requests: [
        { listener: 'api', method: 'POST', path: '/bfl/v1/flux-2-pro', credential: true, status: 200 },
        { listener: 'assets', method: 'GET', credential: false, status: 200 },
        { listener: 'api', method: 'POST', path: '/bfl/v1/x', credential: false, status: 403 },
      ],
    });
    expect((await caller.admin('/requests?listener=assets')).json['requests']).toHaveLength(1);
  });

  it('reports a key that reached the second listener, which rejects it', async () => {
    const { json } = await caller.bfl({ prompt: 'a' });
    for (const header of ['x-key', 'authorization', 'cookie'])
      expect((await call(String(json['polling_url']), { headers: { [header]: 'secret' } })).status).toBe(400);
    expect((await call(`${caller.simulator.assets}/nowhere`, { headers: { 'x-api-key': 's' } })).status).toBe(
      400,
    );
    const { violations } = (await caller.admin('/requests')).json;
    expect(violations).toHaveLength(4);
    expect(await caller.entries()).toMatchObject([{ pollCount: 0 }]);
  });

  it('reports a header that callers send to the router', async () => {
    await call(`${caller.simulator.api}/bfl/v1/x`, { method: 'POST', headers: { 'x-service-user': 'u' } });
    expect((await caller.admin('/requests')).json['violations']).toHaveLength(1);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { call, startWithCaller, type Caller } from './testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller({ defaultMs: 0 })));
beforeEach(async () => void (await caller.admin('/reset', {})));
afterAll(() => caller.simulator.close());

const bfl = (prompt: string) => caller.bfl({ prompt });
const fal = (prompt: string) => caller.fal({ prompt });

async function pollingUrl(prompt: string): Promise<string> {
  return String((await bfl(prompt)).json['polling_url']);
}

async function assetUrl(prompt: string): Promise<string> {
  const { json } = await call(await pollingUrl(prompt));
  return (json['result'] as { sample: string }).sample;
}

const arrived = async () => Number((await caller.admin('/requests')).json['total']);

/** Aborts the call once a later call has been answered. If this one was answered before that, it did not hang. */
async function hangs(url: string, init: RequestInit): Promise<boolean> {
  const before = await arrived();
  const leaving = new AbortController();
  const outcome = fetch(url, { ...init, signal: leaving.signal }).catch((error: unknown) => error);
  while ((await arrived()) === before);
  await bfl('[[sim:401]]');
  leaving.abort();
  const error = await outcome;
  return error instanceof DOMException && error.name === 'AbortError';
}

const submission = (prompt: string): [string, RequestInit] => [
  `${caller.simulator.api}/bfl/v1/flux-2-pro`,
  {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-key': 'k' },
    body: JSON.stringify({ prompt }),
  },
];

// oxlint-disable-next-line no-restricted-properties -- the tests check minimum delays only
const elapsedMs = (): number => performance.now();

describe('a submission that is not accepted', () => {
  it.each([
    ['401', 403, 401],
    ['402', 402, 403],
    ['locked', 402, 403],
    ['429', 429, 429],
    ['503', 503, 503],
    ['500_submit', 500, 500],
    ['502_submit', 502, 502],
    ['504_submit', 504, 504],
    ['field_error', 422, 422],
  ])('is rejected by %s in each provider’s own words', async (token, atBfl, atFal) => {
    expect((await bfl(`[[sim:${token}]]`)).status).toBe(atBfl);
    expect((await fal(`[[sim:${token}]]`)).status).toBe(atFal);
    expect(await caller.entries()).toEqual([]);
  });

  it('is rejected n times per body, with the seconds to wait', async () => {
    const prompt = '[[sim:429=2]][[sim:retry_after=7]]';
    const first = await bfl(prompt);
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await bfl(prompt)).status).toBe(429);
    expect((await bfl(`${prompt} another`)).status).toBe(429);
    expect((await bfl(prompt)).status).toBe(200);
    expect(await caller.entries()).toMatchObject([{ attempt: 3 }]);
  });

  it('hangs', async () => {
    expect(await hangs(...submission('[[sim:hang_submit]]'))).toBe(true);
    expect(await caller.entries()).toEqual([]);
  });

  it('names a misspelt token', async () => {
    expect(await bfl('[[sim:oops]]')).toMatchObject({
      status: 400,
      json: { detail: 'simulator: unknown control "oops"' },
    });
  });
});

describe('a submission that is accepted', () => {
  it('is in the ledger even if its reply is lost or unreadable', async () => {
    await expect(bfl('[[sim:reset_after_accept]]')).rejects.toThrow('fetch failed');
    expect(await hangs(...submission('[[sim:hang_after_accept]]'))).toBe(true);
    expect(await bfl('[[sim:html]]')).toMatchObject({
      status: 200,
      json: {},
      text: expect.stringContaining('<html>'),
    });
    expect(await bfl('[[sim:garbage]]')).toMatchObject({ status: 200, json: {} });
    await expect(bfl('[[sim:truncated]]')).rejects.toThrow('terminated');
    expect((await caller.entries()).map((entry) => entry['tokens'])).toEqual([
      ['reset_after_accept'],
      ['hang_after_accept'],
      ['html'],
      ['garbage'],
      ['truncated'],
    ]);
  });
});

describe('a poll', () => {
  it('fails n times and then succeeds', async () => {
    const url = await pollingUrl('[[sim:poll_502=3]]');
    const statuses = [];
    for (let each = 0; each < 4; each += 1) statuses.push((await call(url)).status);
    expect(statuses).toEqual([502, 502, 502, 200]);
    expect(await caller.entries()).toMatchObject([{ pollCount: 4 }]);
  });

  it('gets a 404, an HTML page, garbage, or a slow answer', async () => {
    expect(await call(await pollingUrl('[[sim:poll_404]]'))).toMatchObject({
      status: 404,
      json: { status: 'Task not found' },
    });
    expect((await call(await pollingUrl('[[sim:poll_html]]'))).text).toContain('<html>');
    expect((await call(await pollingUrl('[[sim:poll_garbage]]'))).json).toEqual({});
    expect(await hangs(await pollingUrl('[[sim:hang_poll]]'), {})).toBe(true);
    const startedMs = elapsedMs();
    const dripped = await call(await pollingUrl('[[sim:poll_drip=1]]'));
    expect(dripped.json).toMatchObject({ status: 'Ready' });
    expect(elapsedMs() - startedMs).toBeGreaterThan(dripped.text.length / 2);
    await expect(call(await pollingUrl('[[sim:poll_truncated]]'))).rejects.toThrow('terminated');
    await expect(call(await pollingUrl('[[sim:poll_reset]]'))).rejects.toThrow('fetch failed');
  });

  it('is padded to the requested size and stays valid JSON', async () => {
    const answer = await call(await pollingUrl('[[sim:poll_big=300000]]'));
    expect(answer.text).toHaveLength(300_000);
    expect(answer.json).toMatchObject({ status: 'Ready' });
  });

  it('may succeed while the fetch of the result fails', async () => {
    const { json } = await fal('[[sim:result_502=1]]');
    expect((await caller.falCall(json['status_url'])).status).toBe(200);
    expect((await caller.falCall(json['response_url'])).status).toBe(502);
    expect((await caller.falCall(json['response_url'])).status).toBe(200);
  });
});

describe('an asset', () => {
  it('is missing, redirected, or oversized', async () => {
    expect((await call(await assetUrl('[[sim:asset_404]]'))).status).toBe(404);
    const moved = await call(await assetUrl('[[sim:asset_redirect]]'));
    expect([moved.status, moved.headers.get('location')]).toEqual([
      302,
      'http://169.254.169.254/latest/meta-data/',
    ]);
    const big = await call(await assetUrl('[[sim:asset_big=3000000]]'));
    expect(big.headers.get('content-length')).toBe('3000000');
  });

  it('never ends', async () => {
    const response = await fetch(await assetUrl('[[sim:asset_endless]]'));
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > 5_000_000) break;
    }
    expect(bytes).toBeGreaterThan(5_000_000);
    expect(response.headers.get('content-length')).toBeNull();
  });

  it('arrives slowly', async () => {
    const url = await assetUrl('[[sim:asset_slow=50]]');
    const startedMs = elapsedMs();
    expect((await call(url)).status).toBe(200);
    expect(elapsedMs() - startedMs).toBeGreaterThanOrEqual(45);
  });
});

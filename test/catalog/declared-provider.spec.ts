import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Caller, failOnLeftovers, sharedSystem, transports } from '../harness/index.js';
import { Lab } from './lab.js';
import { polled, provider, row } from './own-rows.js';

// Bad edits, hidden built-in rows, renewed keys and SIGHUP affect every caller of a system, so they are in
// test/operations/catalog-edits.spec.ts.
describe.each(transports().slice(0, 1))('a provider that the catalog declares on %s', (transport) => {
  const system = sharedSystem(transport);
  let upstream: Lab;
  let caller: Caller;

  beforeAll(async () => {
    upstream = await Lab.start();
    system.giveKey('lab', 'key-of-the-lab\n');
    await system.serve({
      'lab.yaml': provider('lab', upstream.url, polled),
      'fast.yaml': provider('fast', upstream.url, "file_results: true\nauth_query: { key: '{secret}' }\n"),
      'lab-paint.yaml': row('lab/paint', 'v1/paint', 1_000),
      'fast-echo.yaml': row('fast/echo', 'now/echo', 1_000),
      'fast-speak.yaml': row('fast/speak', 'sound/speak', 1_000),
      'fast-refuse.yaml': row('fast/refuse', 'refuse/refuse', 1_000),
    });
    caller = await system.caller();
  });
  afterAll(() => upstream.stop());

  it('is served without a restart: polled, at once, and with a file; synchronous and queued', async () => {
    const body = '{ "prompt": "a cat", "seed": 18446744073709551615.0 }';
    const synchronous = await caller.call('POST', '/v2/models/lab/paint', { body });
    expect([synchronous.status, synchronous.bytes.toString()]).toEqual([200, `{"made of": ${body} }`]);
    const queued = await caller.submit('lab/paint', body);
    await caller.completed(queued);
    expect((await caller.collect(queued)).bytes.toString()).toBe(`{"made of": ${body} }`);
    const echo = await caller.call('POST', '/v2/models/fast/echo', { body });
    expect(echo.bytes.toString()).toBe(`{"echo": ${body}}`);
    const sound = await caller.submit('fast/speak', body);
    await caller.completed(sound);
    const collected = await caller.collect(sound);
    expect([collected.headers.get('content-type'), [...collected.bytes]]).toEqual([
      'audio/mpeg',
      [0xff, 0xfb, 0, 1],
    ]);
    expect(upstream.submissions.slice(0, 2)).toMatchObject(
      Array.from({ length: 2 }, () => ({
        path: '/v1/paint',
        headers: { 'x-lab-key': 'key-of-the-lab' },
        text: body,
      })),
    );
    expect(upstream.submissions[2]?.path).toMatch(/^\/now\/echo\?key=.+/);
  });

  it.each([
    ['a NUL', 'a\\u0000b', 'a\uFFFDb'],
    ['half a surrogate pair', 'a\\ud83db', 'a\uFFFDb'],
    ['a surrogate pair where the echo is cut', `${'a'.repeat(1023)}😀`, `${'a'.repeat(1023)}…`],
  ])('passes its rejection of %s on as 422', async (_what, prompt, input) => {
    const refused = await caller.call('POST', '/v2/models/fast/refuse', { body: `{"prompt":"${prompt}"}` });
    expect([refused.status, refused.json()['detail']]).toMatchObject([
      422,
      [{ loc: ['body', 'prompt'], type: 'value_error', input }],
    ]);
  });

  it('has its inputs validated by its row', async () => {
    const refused = await caller.call('POST', '/v2/models/lab/paint', { body: '{"seed":"x"}' });
    expect([refused.status, refused.json()['detail']]).toMatchObject([
      422,
      [
        { loc: ['body', 'prompt'], type: 'missing' },
        { loc: ['body', 'seed'], type: 'int_type' },
      ],
    ]);
  });

  it('changes no live run: twenty, most of them not sent yet, finish with the facts they were admitted with', async () => {
    const workspace = await system.caller({ inflightLimit: 5 });
    upstream.holding = true;
    upstream.calls.length = 0;
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => workspace.submit('lab/paint', `{"prompt":"${index}"}`)),
    );
    await system.serve({ 'lab-paint.yaml': row('lab/paint', 'v2/paint', 7_000) });
    // A workspace has five calls in flight, so the other runs are parked.
    expect(upstream.submissions.length).toBeLessThanOrEqual(5);
    const late = await workspace.submit('lab/paint', '{"prompt":"late"}');
    upstream.holding = false;
    await Promise.all([...runs, late].map((run) => workspace.completed(run, 120_000)));

    const paths = upstream.submissions.map(({ path: asked, text }) => [asked, text === '{"prompt":"late"}']);
    expect(paths.filter(([asked, isLate]) => asked === '/v1/paint' && isLate === false)).toHaveLength(20);
    expect(paths.filter(([asked, isLate]) => asked === '/v2/paint' && isLate)).toHaveLength(1);
    const billed = await system.sql<{ billed: string; runs: string }>(
      `SELECT billed_micros::text AS billed, count(*)::text AS runs FROM audit_record
        WHERE workspace_id = $1 GROUP BY 1 ORDER BY 1`,
      [workspace.workspaceId],
    );
    expect(billed).toEqual([
      { billed: '1000', runs: '20' },
      { billed: '7000', runs: '1' },
    ]);
  });
});

failOnLeftovers();

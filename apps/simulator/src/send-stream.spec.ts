import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startWithCaller, type Caller } from './testing/caller.js';

let caller: Caller;
beforeAll(async () => void (caller = await startWithCaller({ defaultMs: 0 })));
afterAll(() => caller.simulator.close());

const opened = (words: string, signal: AbortSignal = AbortSignal.timeout(30_000)) =>
  fetch(`${caller.simulator.api}/openrouter/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: `Good day. ${words}` }],
    }),
    signal,
  });

const entryOf = async (tag: string) => (await caller.entries(`?tag=${tag}`))[0];

/** Asks until the entry has the time at which the connection was closed. */
async function abortedAt(tag: string): Promise<unknown> {
  for (;;) {
    const entry = await entryOf(tag);
    if (entry?.['abortedAtMs'] !== null) return entry?.['abortedAtMs'];
  }
}

it('a stream without a planned fault ends with [DONE], and nobody aborted it', async () => {
  const text = await (await opened('[[sim:tag=whole]] [[sim:stream_pause=0]]')).text();
  expect(text).toMatch(/^: OPENROUTER PROCESSING\n\n(data: .*\n\n)+$/);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await entryOf('whole')).toMatchObject({ abortedAtMs: null });
});

it.each(['stream_hang', 'stream_slow=60000', 'stream_pause=60000'])(
  'with %s, the ledger notes that the caller closed the connection',
  async (token) => {
    const leaving = new AbortController();
    const tag = token.slice(0, 11);
    const call = opened(`[[sim:${token}]] [[sim:tag=${tag}]]`, leaving.signal).then((reply) => reply.text());
    while (!(await entryOf(tag))) continue;
    leaving.abort();
    await expect(call).rejects.toThrow(/abort/);
    expect(await abortedAt(tag)).toEqual(expect.any(Number));
    expect(await entryOf(tag)).toMatchObject({ replySha256: null });
  },
);

it('with stream_reset, the simulator resets the connection in the middle of the text', async () => {
  const reply = await opened('[[sim:stream_reset]] [[sim:stream_pause=0]] [[sim:tag=reset]]');
  let text = '';
  const read = async () => {
    for await (const chunk of reply.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  };
  await expect(read()).rejects.toThrow(/terminated/);
  expect(text).toContain('chat.completion.chunk');
  expect(text).not.toContain('[DONE]');
  expect(await entryOf('reset')).toMatchObject({ abortedAtMs: null });
});

import type { HttpReply, Signal, TokenExchange } from '#providers';
import { describe, expect, it } from '@jest/globals';
import { Tokens } from './tokens.js';

const provider = { name: 'provider' };
const exchange: TokenExchange = {
  call: (secret) => {
    if (secret === 'no key') throw new Error(secret);
    return { method: 'POST', url: `https://token.example/${secret}` };
  },
  read: ({ body }) => {
    const { token, seconds } = JSON.parse(Buffer.from(body).toString()) as {
      token?: string;
      seconds: number;
    };
    return token === undefined ? undefined : { token, lifeMs: seconds * 1000 };
  },
};
const reply = (status: number, body: object): HttpReply => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
});

function setUp(answer: () => Signal = () => reply(200, { token: 't', seconds: 3600 })) {
  let nowMs = 1_000_000;
  const urls: string[] = [];
  const tokens = new Tokens(() => nowMs);
  const ask = (secret = 'secret') =>
    tokens.of(provider, exchange, secret, async ({ url }) => {
      urls.push(url);
      return answer();
    });
  return { tokens, urls, ask, pass: (ms: number) => (nowMs += ms) };
}

describe('Tokens', () => {
  it('exchanges once for concurrent calls, and again a minute before the token expires', async () => {
    const { urls, ask, pass } = setUp();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([
      { token: 't' },
      { token: 't' },
      { token: 't' },
    ]);
    pass(3_539_000);
    await ask();
    expect(urls).toEqual(['https://token.example/secret']);
    pass(2000);
    await ask();
    expect(urls).toHaveLength(2);
  });

  it('exchanges each secret of a provider for a token of its own', async () => {
    const { tokens, urls, ask } = setUp();
    await Promise.all([ask('one'), ask('other')]);
    tokens.forget(provider, 'one', 't');
    await ask('other');
    expect(urls).toEqual(['https://token.example/one', 'https://token.example/other']);
  });

  it.each<[string, Signal, string]>([
    ['no connection', { fault: 'not_sent', cause: 'connect' }, 'no_token'],
    ['no reply', { fault: 'ambiguous', cause: 'timeout' }, 'no_token'],
    ['a busy token server', reply(429, {}), 'no_token'],
    ['a broken token server', reply(503, {}), 'no_token'],
    ['a rejection', reply(400, { error: 'invalid_grant' }), 'token_refused'],
    ['a reply without a token', reply(200, {}), 'token_refused'],
  ])('%s: nothing was sent, and the next call tries again', async (_what, signal, cause) => {
    const { urls, ask } = setUp(() => signal);
    expect(await ask()).toEqual({ fault: 'not_sent', cause });
    await ask();
    expect(urls).toHaveLength(2);
  });

  it('does not send an invalid secret', async () => {
    const { urls, ask } = setUp();
    expect(await ask('no key')).toEqual({ fault: 'not_sent', cause: 'token_refused' });
    expect(urls).toEqual([]);
  });

  it('forgets the token that a provider rejected, but not a newer one', async () => {
    const { tokens, urls, ask } = setUp();
    await ask();
    tokens.forget(provider, 'secret', 'older');
    await ask();
    expect(urls).toHaveLength(1);
    tokens.forget(provider, 'secret', 't');
    tokens.forget(provider, 'secret', 't');
    await ask();
    expect(urls).toHaveLength(2);
  });
});

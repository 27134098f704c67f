import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { createLog } from '#observability';
import { readSettings } from '#schemas';
import { errors, exportJWK, type FlattenedJWSInput, generateKeyPair, type JWK } from 'jose';
import {
  content,
  json,
  redirect,
  type Reply,
  reset,
  ScriptedServer,
} from '../../../../test/harness/scripted-server.js';
import { fetchBounded, RemoteKeys } from './remote-keys.js';
import { authSettings } from './settings.js';

const hourMs = 3_600_000;
const log = createLog('gateway', 'fatal');
const token: FlattenedJWSInput = { payload: '', signature: '' };
const answerKeys: Reply = (...call) => json({ keys })(...call);

let keys: JWK[];
let nowMs: number;
let server: ScriptedServer;
let remote: RemoteKeys;
/** Replaces the fetch when it is set. */
let hanging: (() => Promise<Response>) | undefined;

beforeEach(async () => {
  keys = [await publicKey('first')];
  nowMs = Date.now();
  server = await ScriptedServer.start();
  answer(answerKeys);
  hanging = undefined;
  remote = new RemoteKeys(
    `${server.url}/jwks`,
    readSettings(authSettings, {}),
    log,
    () => nowMs,
    (address, options) => (hanging ? hanging() : fetchBounded(address, options)),
  );
});

afterEach(() => server.stop());

const answer = (reply: Reply) => server.paths.set('/jwks', reply);
const fetches = () => server.calls.length;

async function publicKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
}

const find = async (kid: string) => remote.find({ alg: 'ES256', kid }, token);
const unavailable = { bucket: 'service_unavailable', status: 503 };

describe('RemoteKeys', () => {
  it('fetches once for concurrent calls, and again only after the keys have aged', async () => {
    await Promise.all(Array.from({ length: 50 }, () => find('first')));
    nowMs += 599_999;
    await find('first');
    expect(fetches()).toBe(1);
    nowMs += 1;
    await find('first');
    expect(fetches()).toBe(2);
  });

  it('picks up an added key and drops a removed one without a restart', async () => {
    await find('first');
    keys = [await publicKey('second')];
    nowMs += 30_000;
    await expect(find('second')).resolves.toMatchObject({ type: 'public' });
    await expect(find('first')).rejects.toThrow(errors.JWKSNoMatchingKey);
    expect(fetches()).toBe(2);
  });

  it.each([
    ['answers 500', json({ keys: [] }, 500)],
    ['closes the connection', reset],
    ['answers something else', content('text/html', '<html>')],
    ['redirects', redirect('/')],
    ['never stops', content('application/json', ' '.repeat(2_000_000))],
  ])('keeps using known keys for a day while the endpoint %s', async (_what, fault) => {
    await find('first');
    answer(fault);
    for (let passedMs = hourMs; passedMs < 24 * hourMs; passedMs += hourMs) {
      nowMs += hourMs;
      await expect(find('first')).resolves.toMatchObject({ type: 'public' });
    }
    nowMs += hourMs;
    await expect(find('first')).rejects.toMatchObject(unavailable);
    answer(answerKeys);
    nowMs += hourMs;
    await expect(find('first')).resolves.toMatchObject({ type: 'public' });
  });

  it('waits once for an endpoint that hangs, then keeps using known keys for a day', async () => {
    await find('first');
    const giveUp: (() => void)[] = [];
    hanging = () =>
      new Promise((_resolve, reject) => {
        giveUp.push(() => reject(new DOMException('The operation timed out.', 'TimeoutError')));
      });
    nowMs += hourMs;
    const first = find('first');
    giveUp.pop()?.();
    await expect(first).resolves.toMatchObject({ type: 'public' });
    // From now on the fetch hangs, and no call waits for it.
    for (let passedMs = 2 * hourMs; passedMs < 24 * hourMs; passedMs += hourMs) {
      nowMs += hourMs;
      await expect(find('first')).resolves.toMatchObject({ type: 'public' });
    }
    expect(giveUp).toHaveLength(1);
    nowMs += hourMs;
    const aged = find('first');
    giveUp.pop()?.();
    await expect(aged).rejects.toMatchObject(unavailable);
    hanging = undefined;
    nowMs += hourMs;
    await expect(find('first')).resolves.toMatchObject({ type: 'public' });
  });

  it.each([
    ['answers', answerKeys, errors.JWKSNoMatchingKey],
    ['is unreachable', reset, errors.JWKSNoMatchingKey],
  ])(
    'fetches once per cooldown for 1,000 random key ids while the endpoint %s',
    async (_what, state, refusal) => {
      await find('first');
      answer(state);
      nowMs += 30_000;
      for (let nth = 0; nth < 1_000; nth += 10) {
        const guesses = Array.from({ length: 10 }, (_none, index) => find(`guess ${nth + index}`));
        for (const guess of guesses) await expect(guess).rejects.toThrow(refusal);
        nowMs += 299;
        // Lets the client notice closed sockets.
        await turn();
      }
      expect(fetches()).toBe(2);
      await expect(find('first')).resolves.toMatchObject({ type: 'public' });
      nowMs += 30_000;
      await expect(find('one more')).rejects.toThrow(refusal);
      expect(fetches()).toBe(3);
    },
  );

  it('reports that tokens cannot be verified until keys have been fetched, and fetches once per cooldown', async () => {
    answer(reset);
    for (let nth = 0; nth < 20; nth += 1) await expect(find('first')).rejects.toMatchObject(unavailable);
    expect(fetches()).toBe(1);
    answer(answerKeys);
    nowMs += 30_000;
    await expect(find('first')).resolves.toMatchObject({ type: 'public' });
  });
});

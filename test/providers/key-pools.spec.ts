import type { OperatorProvider } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runAdmin } from '../admin/run-admin.js';
import { provider, row } from '../catalog/own-rows.js';
import {
  failOnLeftovers,
  newTag,
  sharedSystem,
  type Submitted,
  type TestCaller,
  eitherTransport,
  unending,
  waitFor,
} from '../harness/index.js';

/** Declared like fal, and answered by the simulated fal, which knows the account of each key. */
const pooled = (name: string, simulator: string) =>
  provider(
    name,
    `${simulator}/fal`,
    `
handle: { statusUrl: { path: /status_url, url: true }, responseUrl: { path: /response_url, url: true } }
poll:
  url: '{statusUrl}'
  status: /status
  statuses: { IN_QUEUE: queued, IN_PROGRESS: running, COMPLETED: succeeded }
  interval_seconds: 0.1
fetch: { url: '{responseUrl}' }
`,
  ).replace("x-lab-key: '{secret}'", "authorization: 'Key {secret}'");

describe.each(eitherTransport())('a pool of keys on %s', (transport) => {
  const system = sharedSystem(transport);
  const name = 'pooled';
  let caller: TestCaller;
  let operator: TestCaller;

  const account = (key: string) => `${key}${transport}`;
  const line = (key: string, terms = '') => `${key}=sim-account-${account(key)} ${terms}`;
  const shown = async () =>
    (await operator.call('GET', `/v2/operator/providers/${name}`)).json() as OperatorProvider;
  const states = async () => Object.fromEntries((await shown()).keys.map((key) => [key.name, key.state]));
  const until = async (key: string, state: string | undefined) =>
    waitFor(async () => (await states())[key] === state, {
      withinMs: 30_000,
      what: `the key ${key} to be ${state}`,
      everyMs: 200,
    });
  const submit = (tag: string, count: number, control = ''): Promise<Submitted[]> =>
    Promise.all(
      Array.from({ length: count }, (_each, nth) =>
        caller.submit(`${name}/paint`, JSON.stringify({ prompt: `${nth} [[sim:tag=${tag}]]${control}` })),
      ),
    );
  /** The number of submissions under the tag that each account accepted. */
  const accepted = async (tag: string) => {
    const counts: Record<string, number> = {};
    for (const each of await system.provider.ledger(tag)) {
      const key = each.account?.replace(transport, '') ?? '';
      counts[key] = (counts[key] ?? 0) + 1;
    }
    return counts;
  };
  const accepting = (tag: string, count: number) =>
    waitFor(async () => (await system.provider.ledger(tag)).length === count, {
      withinMs: 30_000,
      what: `${count} submissions`,
      everyMs: 100,
    });
  /** The simulator answers a poll with another account's key as if it did not know the run. */
  const succeed = async (runs: readonly Submitted[]) => {
    for (const run of runs) expect(await caller.completed(run)).not.toHaveProperty('error_type');
  };
  const admin = (...words: string[]) => runAdmin(system.env(), 'provider', 'key', ...words);

  beforeAll(async () => {
    system.giveKey(name, [line('a', 'weight=2'), line('b')].join('\n'));
    await system.serve({
      [`${name}.yaml`]: pooled(name, system.simulator.url),
      [`${name}-paint.yaml`]: row(`${name}/paint`, 'fal-ai/flux/dev', 1_000),
    });
    caller = await system.caller({ inflightLimit: 100 });
    operator = await system.caller({}, undefined, ['operate']);
    await until('b', 'ready');
  });
  failOnLeftovers();

  it('submits with each key, and polls with the key that submitted', async () => {
    const tag = newTag('spread');
    await succeed(await submit(tag, 30));
    expect(Object.keys(await accepted(tag)).toSorted()).toEqual(['a', 'b']);
  });

  it('loses no run to a revoked key, until an operator restores it', async () => {
    await system.provider.answerAccount(account('a'), { status: 401 });
    const tag = newTag('revoked');
    await succeed(await submit(tag, 12));
    expect(await accepted(tag)).toEqual({ b: 12 });
    await until('a', 'left');
    expect((await admin('list', name)).out).toMatch(/^pooled +a +left +2 +- +- +- +\d{4}-\S+ +key$/m);
    await system.provider.answerAccount(account('a'), null);
    expect((await admin('restore', name, 'a')).out).toBe('a is used again for pooled.\n');
    expect((await admin('restore', name, 'c')).error).toContain('no key of pooled "c"');
    const again = newTag('restored');
    await succeed(await submit(again, 30));
    expect((await accepted(again))['a']).toBeGreaterThan(0);
  });

  it('goes on with the other key while one cools', async () => {
    await system.provider.answerAccount(account('b'), { status: 429, retryAfterSeconds: 30 });
    const tag = newTag('cooling');
    await succeed(await submit(tag, 12));
    expect(await accepted(tag)).toEqual({ a: 12 });
    expect((await shown()).keys).toMatchObject([
      { name: 'a', state: 'ready', weight: 2 },
      { name: 'b', state: 'cooling', cools_until: expect.any(String) },
    ]);
    expect((await shown()).pauses).toEqual([]);
    await system.provider.answerAccount(account('b'), null);
  });

  it('keeps to the limits of each key, and uses a key that is added', async () => {
    system.giveKey(
      name,
      [line('a', 'weight=0'), line('c', 'per_minute=3'), line('d', 'concurrency=2')].join('\n'),
    );
    await until('d', 'ready');
    const tag = newTag('limits');
    const runs = await submit(tag, 8, unending);
    await accepting(tag, 5);
    expect(await accepted(tag)).toEqual({ c: 3, d: 2 });
    expect((await shown()).pressure.waiting.runs).toBe(3);
    system.giveKey(name, [line('c', 'per_minute=3'), line('d', 'concurrency=2'), line('e')].join('\n'));
    await accepting(tag, 8);
    expect(await accepted(tag)).toEqual({ c: 3, d: 2, e: 3 });
    system.giveKey(name, [line('d', 'concurrency=2'), line('f')].join('\n'));
    await until('f', 'ready');
    // The runs of the removed keys are still polled with these.
    await system.provider.finish(tag);
    await succeed(runs);
  });
});

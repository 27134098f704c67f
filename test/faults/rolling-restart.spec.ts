import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import {
  unending,
  type Answer,
  type Caller,
  failOnLeftovers,
  type Submitted,
  transports,
  waitFor,
} from '../harness/index.js';
import { roomy } from './crowd.js';

const model = 'bfl/flux-2-pro';
/** `ROLLING_RESTART_MS=120000` keeps restarting everything for two minutes. */
const loadMs = Number(process.env['ROLLING_RESTART_MS'] ?? 8_000);

/** Under load a process may take long to start. */
const longStart = { readyWithinMs: 150_000 };
/** A synchronous call may take even longer, since it outlives starts. */
const heldMs = 280_000;

describe('restarts under load', () => {
  let system: System;
  let caller: Caller;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    // Held calls may finish for 30 s, and a process that does not exit within a minute is killed.
    const env = { CLOSE_TIMEOUT_MS: '50000' };
    system = await System.start({ transport, takesMs: 400, gateways: 0, workers: 0, env });
    for (let each = 0; each < 2; each += 1) {
      await Promise.all([system.startGateway({}, longStart), system.startWorker({}, longStart)]);
    }
    caller = await system.caller(roomy);
    const warmUp = await caller.submit(model, '{"prompt":"warm-up"}');
    await caller.completed(warmUp);
  }, 400_000);
  afterAll(() => system.stop());

  const run = (prompt: string, key: string) =>
    caller.call('POST', `/v2/models/${model}`, {
      body: JSON.stringify({ prompt }),
      headers: { 'idempotency-key': key },
      withinMs: heldMs,
    });

  /**
   * As a load balancer and Kubernetes do it: the new process is ready, and the old one has received its calls,
   * before the old one is stopped.
   */
  async function replace(old: App, arrived?: () => Promise<unknown>): Promise<void> {
    await (old.name === 'gateway' ? system.startGateway({}, longStart) : system.startWorker({}, longStart));
    system.forget(old);
    await arrived?.();
    expect(await old.stop()).toBe(0);
  }

  it('a stopping gateway answers calls that it cannot hold any longer with 504, and another gateway collects their runs', async () => {
    const calls = [0, 1, 2, 3, 4].map((index) => ({
      prompt: `${unending} held ${index}`,
      key: `held-${index}`,
    }));
    const leaver = await system.startGateway({ CLOSE_TIMEOUT_MS: '4000' }, longStart);
    system.forget(leaver);
    const held = calls.map(({ prompt, key }) =>
      caller.call('POST', `${leaver.url}/v2/models/${model}`, {
        body: JSON.stringify({ prompt }),
        headers: { 'idempotency-key': key },
        withinMs: heldMs,
      }),
    );
    await waitFor(
      async () => {
        const rows = await system.sql(`SELECT 1 FROM run WHERE handle IS NOT NULL AND stage = 'running'`);
        return rows.length === calls.length;
      },
      { withinMs: 60_000, what: 'the handles of the held runs', everyMs: 50 },
    );
    expect(await leaver.stop()).toBe(0);
    for (const answer of await Promise.all(held)) {
      expect([answer.status, answer.bucket]).toEqual([504, 'deadline_exceeded']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const collecting = Promise.all(calls.map(({ prompt, key }) => run(prompt, key)));
    await system.provider.finish();
    const collected = await collecting;
    expect(collected.map(({ status }) => status)).toEqual(calls.map(() => 200));
    await holdToInvariants(system);
  }, 500_000);

  it(
    `every process is replaced under ${loadMs} ms or more of load, and no call is lost, doubled, reset or answered with 504`,
    async () => {
      const submitted: Submitted[] = [];
      const answers: Answer[] = [];
      const done = new AbortController();
      const load = async (each: (index: number) => Promise<void>) => {
        for (let index = 0; !done.signal.aborted; index += 1) {
          await each(index);
          await pause(40);
        }
      };
      /** Keys of calls without an answer. */
      const open = new Set<string>();
      const keyed = (make: (key: string, index: number) => Promise<unknown>) => async (index: number) => {
        const key = randomUUID();
        open.add(key);
        await make(key, index);
        open.delete(key);
      };
      /** Whether a gateway has admitted every call that is open now. */
      const arrived = () => {
        const sent = [...open];
        const isKnown = async () => {
          const known = 'SELECT key FROM idempotency_key WHERE key = ANY($1)';
          const rows = await system.sql<{ key: string }>(known, [sent]);
          return sent.every((key) => !open.has(key) || rows.some((row) => row.key === key));
        };
        return waitFor(isKnown, { withinMs: 60_000, what: 'calls to arrive' });
      };
      const loads = [
        load(
          keyed(async (key, index) => {
            const headers = { 'idempotency-key': key };
            submitted.push(await caller.submit(model, `{"prompt":"queued ${index}"}`, { headers }));
          }),
        ),
        load(
          keyed(async (key, index) => {
            answers.push(await run(`held ${index}`, key));
          }),
        ),
      ];
      const endsAtMs = performance.now() + loadMs;
      let replaced = 0;
      do {
        for (const old of [...system.gateways, ...system.workers]) {
          await replace(old, arrived);
          replaced += 1;
        }
      } while (performance.now() < endsAtMs);
      done.abort();
      await Promise.all(loads);

      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      await holdToInvariants(system, 60_000);
      expect(await system.sql(`SELECT * FROM run WHERE outcome IS DISTINCT FROM 'succeeded'`)).toEqual([]);
      // A few at a time, because minutes of load leave more results than a gateway can return at once.
      for (let at = 0; at < submitted.length; at += 25) {
        const results = await Promise.all(submitted.slice(at, at + 25).map((each) => caller.collect(each)));
        expect(results.map(({ status }) => status)).toEqual(results.map(() => 200));
      }
      process.stdout.write(
        `${replaced} processes replaced under ${submitted.length} queued and ${answers.length} held calls\n`,
      );
    },
    loadMs + 600_000,
  );
});

failOnLeftovers();

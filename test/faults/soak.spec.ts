import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { type App, holdToInvariants, System } from '../harness/faults.js';
import { type Answer, failOnLeftovers, type Submitted, transports } from '../harness/index.js';
import { chanceOf, randomSeed, seedOr } from '../models/replay.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const seed = seedOr(randomSeed());
/** MODEL_SOAK_MS lengthens it, up to hours. */
const soakMs = Number(process.env['MODEL_SOAK_MS'] ?? 25_000);
const callers = 6;

describe.each(transports().slice(0, 1))(
  'whatever callers do while processes are killed, on %s',
  (transport) => {
    let system: System;
    let caller: TestCaller;
    beforeAll(async () => {
      const env = { QUEUE_LOCK_MS: '5000', QUEUE_STALLED_MS: '1000', CLAIM_LEASE_MS: '5000' };
      system = await System.start({ transport, gateways: 2, workers: 2, takesMs: 500, env });
      caller = await system.caller({
        inflightLimit: 12,
        // Small, so that what waits at the end is soon done.
        backlogLimit: 40,
        windowLimit: 1_000_000,
        committedLimitMicros: 1_000_000_000,
      });
    });
    afterAll(() => system.stop());

    it(
      `every invariant holds after ${soakMs} ms (MODEL_SEED=${seed})`,
      async () => {
        const over = AbortSignal.timeout(soakMs);
        const strange: string[] = [];
        const admitted = new Map<string, string>();
        const calling = Array.from({ length: callers }, (_each, index) =>
          callOn(`${index}`, chanceOf(seed + index), over, { strange, admitted }),
        );
        const [kills] = await Promise.all([killOn(chanceOf(seed - 1), over), ...calling]);

        expect(strange).toEqual([]);
        const rows = await system.sql<{ key: string; id: string }>(
          `SELECT key, run_id AS id FROM idempotency_key WHERE workspace_id = $1`,
          [caller.workspaceId],
        );
        const kept = rows.filter((row) => admitted.has(row.key));
        expect(kept.filter((row) => admitted.get(row.key) !== row.id)).toEqual([]);
        await holdToInvariants(system, 120_000);
        const outcomes = await system.sql<{ outcome: string; bucket: string | null; runs: number }>(
          'SELECT outcome, bucket, count(*)::integer AS runs FROM run GROUP BY outcome, bucket',
        );
        process.stdout.write(`soak, seed ${seed}: ${kills} kills, ${JSON.stringify(outcomes)}\n`);
        expect(kills).toBeGreaterThan(0);
        expect(outcomes.filter(({ bucket }) => !outcomesOfKills.includes(bucket))).toEqual([]);
      },
      soakMs + 240_000,
    );

    /** One application: submits, asks, cancels, collects, and tries again with its key when a connection is lost. */
    async function callOn(
      name: string,
      chance: () => number,
      over: AbortSignal,
      { strange, admitted }: { strange: string[]; admitted: Map<string, string> },
    ): Promise<void> {
      const runs: Submitted[] = [];
      for (let nth = 0; !over.aborted; nth += 1) {
        const run = runs[Math.floor(chance() * runs.length)];
        const choice = chance();
        if (run === undefined || choice < 0.4) {
          const model = chance() < 0.5 ? 'fal/flux-dev' : 'bfl/flux-2-pro';
          const key = `${name}-${nth}`;
          const body = JSON.stringify({ prompt: key });
          const answer = await untilAnswered(over, () =>
            caller.call('POST', `/v2/models/${model}/requests`, {
              body,
              headers: { 'idempotency-key': key },
            }),
          );
          if (answer?.status === 201) {
            const requestId = String(answer.json()['request_id']);
            admitted.set(key, requestId);
            runs.push({ requestId, model, body });
          } else if (answer && ![429, 503].includes(answer.status)) strange.push(`submit ${worded(answer)}`);
          continue;
        }
        const [what, expected, ask] = askOf(choice, run);
        const answer = await untilAnswered(over, ask);
        if (answer && !expected.includes(answer.status)) strange.push(`${what} ${worded(answer)}`);
      }
    }

    function askOf(choice: number, run: Submitted): [string, number[], () => Promise<Answer>] {
      if (choice < 0.7) return ['status', [200, 503], () => caller.status(run)];
      if (choice < 0.9) return ['collect', [200, 202, 409, 500, 503], () => caller.collect(run)];
      return ['cancel', [202, 400, 503], () => caller.cancel(run)];
    }

    /** Kills a process now and then, and starts another one in its place. Returns how many. */
    async function killOn(chance: () => number, over: AbortSignal): Promise<number> {
      let kills = 0;
      while (!over.aborted) {
        await pause(1_000 + chance() * 3_000);
        const isGateway = chance() < 0.5;
        const among = isGateway ? system.gateways : system.workers;
        await system.kill(among[Math.floor(chance() * among.length)] as App);
        kills += 1;
        await (isGateway ? system.startGateway() : system.startWorker());
      }
      return kills;
    }
  },
);

failOnLeftovers();

/** Success, a cancelled run, and the one that a killed worker had in the air: its outcome is unknown. */
const outcomesOfKills: (string | null)[] = [null, 'client_disconnected', 'internal_error'];

/** A connection that was lost is tried again, elsewhere. */
async function untilAnswered(over: AbortSignal, ask: () => Promise<Answer>): Promise<Answer | undefined> {
  while (!over.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (!/fetch failed|terminated/.test(String(error))) throw error;
      await pause(50);
    }
  }
  return undefined;
}

const worded = (answer: Answer): string => `${answer.status} ${answer.bucket} ${answer.bytes.toString()}`;

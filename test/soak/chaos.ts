import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { freeze } from '../faults/postgres-side.js';
import type { App } from '../harness/spawn-app.js';
import type { System } from '../harness/system.js';

interface Chaos {
  /** How often each act was done. */
  acts: Map<string, number>;
  /** Runs whose submission was in flight when a worker went away, so that their outcome is unknown. */
  inTheAir: Set<string>;
}

type Act = (system: System, chance: () => number, chaos: Chaos) => Promise<void>;

const oneOf = <T>(list: readonly T[], chance: () => number): T =>
  list[Math.floor(chance() * list.length)] as T;

/** Frozen long enough for its jobs and leases to be taken over, or only for a moment. */
async function freezeApp(app: App, forMs: number): Promise<void> {
  app.child.kill('SIGSTOP');
  await pause(forMs);
  app.child.kill('SIGCONT');
}

/** Call it right after a worker went away: its rows still show what it was submitting. */
async function noteInTheAir(system: System, { inTheAir }: Chaos): Promise<void> {
  for (const { id } of await system.sql<{ id: string }>(`SELECT id FROM run WHERE stage = 'submitting'`)) {
    inTheAir.add(id);
  }
}

const acts: Record<string, Act> = {
  'kill worker': async (system, chance, chaos) => {
    await system.kill(oneOf(system.workers, chance));
    await noteInTheAir(system, chaos);
    await pause(chance() * 3000);
    await system.startWorker();
  },
  'kill gateway': async (system, chance) => {
    const gateway = oneOf(system.gateways, chance);
    const { port } = gateway;
    await system.kill(gateway);
    await system.startGateway({}, { port });
  },
  'freeze worker': async (system, chance, chaos) => {
    const thawed = freezeApp(oneOf(system.workers, chance), chance() < 0.5 ? 20_000 : 4000);
    await noteInTheAir(system, chaos);
    await thawed;
  },
  'freeze gateway': (system, chance) => freezeApp(oneOf(system.gateways, chance), 2000 + chance() * 8000),
  'kill Redis': async ({ redis }, chance) => {
    await redis?.kill('SIGKILL');
    await pause(chance() * 4000);
    await redis?.restart();
  },
  'freeze Redis': async ({ redis }, chance) => {
    await redis?.kill('SIGSTOP');
    await pause(1000 + chance() * 6000);
    await redis?.kill('SIGCONT');
  },
  'flush Redis': async ({ redis }) => {
    if (redis === undefined) return;
    const client = new Redis(redis.url, { retryStrategy: null, commandTimeout: 20_000 });
    client.on('error', () => {});
    await client.flushall().finally(() => client.disconnect());
  },
  'end database sessions': async (system) => {
    await system.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name <> 'oracle' AND random() < 0.7`,
    );
  },
  'freeze Postgres': async ({ postgres }, chance) => {
    const goOn = freeze(postgres);
    await pause(1000 + chance() * 7000);
    goOn();
  },
  'kill Postgres': async ({ postgres }, chance) => {
    await postgres.kill('SIGQUIT');
    await pause(chance() * 3000);
    await postgres.restart();
  },
};

/** Workers die most often, because they handle paid work. Each act in the list happens before one repeats. */
const weighted = [
  ...Object.keys(acts),
  'kill worker',
  'kill worker',
  'kill gateway',
  'end database sessions',
];

/** Does one act after the other until `over`, with pauses of `pauseMs` on average. */
export async function doChaos(
  system: System,
  chance: () => number,
  over: AbortSignal,
  pauseMs: number,
): Promise<Chaos> {
  const chaos: Chaos = { acts: new Map(), inTheAir: new Set() };
  let deck: string[] = [];
  for (;;) {
    await pause(pauseMs * (0.5 + chance()), undefined, { signal: over }).catch(() => {});
    if (over.aborted) return chaos;
    if (deck.length === 0) deck = [...weighted];
    const [name = ''] = deck.splice(Math.floor(chance() * deck.length), 1);
    await acts[name]?.(system, chance, chaos);
    chaos.acts.set(name, (chaos.acts.get(name) ?? 0) + 1);
  }
}

// The throughput of workers: runs per second by number of workers and by transport.
import { setTimeout as pause } from 'node:timers/promises';
import { hasRedis, startService, submitRuns } from './service.mjs';
import { sizeOf } from './size.mjs';

const transports = (process.env.BENCH_TRANSPORTS ?? (hasRedis() ? 'redis,postgres' : 'postgres')).split(',');
const seconds = sizeOf('SECONDS');
const counts = [1, 2, 4].filter((count) => count <= sizeOf('WORKERS'));
const takesMs = 2000;
const slots = 50;

/**
 * Each takes 2 s: a provider that answers when it is done, and one that is polled and leaves an asset to copy.
 * More runs arrive per second than any of these numbers of workers completes.
 */
const models = {
  'openai/gpt-image-2': { body: '{"model":"gpt-image-2","prompt":"a cat"}', perSecond: 100 },
  'bfl/flux-2-pro': { body: '{"prompt":"a cat"}', perSecond: 600 },
};

export async function* run() {
  for (const transport of transports) yield* throughput(transport);
}

async function* throughput(transport) {
  const service = await startService({ transport });
  try {
    const gateway = await service.start('gateway');
    await service.provider.settings({ takesMs });
    const other = await service.customer('other');
    for (const [model, { body, perSecond }] of Object.entries(models)) {
      for (const count of counts) {
        const { runs, connections } = await measure(service, gateway, {
          // One workspace alone never gets all slots.
          customers: [service, other],
          load: { model, body, runs: (perSecond * (seconds + 5) * sizeOf('LOAD')) / 2 },
          count,
        });
        // The limit is the slots of a worker if a run holds its slot to the end; a polled run does not hold one.
        const share = runs / ((count * slots * 1000) / takesMs);
        yield {
          what: `${transport}, ${model}, ${count} ${count === 1 ? 'worker' : 'workers'}`,
          measured: `${runs.toFixed(1)} runs/s, ${share.toFixed(2)} of the slots' capacity; ${connections} connections to Postgres in all`,
          aim: count === 1 ? '≥ 0.8' : 'none: too few cores',
          reached: count > 1 || share >= 0.8,
        };
      }
    }
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

async function measure(service, gateway, { customers, load, count }) {
  await service.empty();
  await Promise.all(customers.map((customer) => submitRuns(customer, gateway, load)));
  const workers = await Promise.all(
    Array.from({ length: count }, () => service.start('worker', {}, { rests: false })),
  );
  // Measure once the first wave of every worker is done.
  for (let tries = 0; (await completed(service)) < count * slots && tries < 300; tries += 1) await pause(100);
  const [before, startedMs] = [await completed(service), performance.now()];
  await pause(seconds * 1000);
  const done = (await completed(service)) - before;
  const runs = (done * 1000) / (performance.now() - startedMs);
  const connections = await clientsOf(service);
  await Promise.all(workers.map((worker) => worker.stop()));
  return { runs, connections };
}

/** Without this program's own connection. */
async function clientsOf({ client }) {
  const { rows } = await client.query(
    `SELECT count(*)::integer - 1 AS clients FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  return rows[0].clients;
}

async function completed({ client }) {
  const { rows } = await client.query(`SELECT count(*)::integer AS runs FROM run WHERE stage = 'completed'`);
  return rows[0].runs;
}

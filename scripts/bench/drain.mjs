// How fast one worker gets through runs that wait, at a provider that answers at once, beside BullMQ alone that makes the
// same call between three statements on one row.
import { share } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { hasRedis, skipped, startScript, startService, submitRuns } from './service.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat '.repeat(160) });
const runs = Number(process.env.BENCH_DRAIN_RUNS ?? 6000);
const concurrency = 50;
const rounds = 3;
const maxMs = 120_000;

export async function* run() {
  if (!hasRedis()) return yield skipped('redis-server is not installed');
  const service = await startService({ transport: 'redis' });
  try {
    const found = [];
    const costs = {};
    for (let round = 0; round < rounds; round += 1) {
      costs.floor = await bare(service);
      costs.ours = await ours(service);
      found.push({ floor: costs.floor.perSecond, ours: costs.ours.perSecond });
    }
    yield {
      ...share('runs drained by one worker against BullMQ, the same call and three statements', found, 0.6),
      more: [`a run: ${costText(costs.ours)}`, `bare: ${costText(costs.floor)}`],
    };
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

async function ours(service) {
  await service.empty();
  const gateway = await service.start('gateway');
  await submitRuns(service, gateway, { model, body, runs });
  await gateway.stop();
  // Of one workspace's runs a quarter of the slots is kept free for another's.
  const slots = Math.ceil(concurrency / 0.75);
  return drained(service, () => service.start('worker', { WORKER_DISPATCH_CONCURRENCY: String(slots) }));
}

async function bare(service) {
  await service.client.query('DROP TABLE IF EXISTS bare_drain');
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = service.env;
  const callUrl = `${service.provider.url}/openai/images/generations`;
  const settings = { databaseUrl, redisUrl, callUrl, body, jobs: runs, concurrency };
  return drained(service, () => startScript('bare-drain.mjs', { BARE: JSON.stringify(settings) }));
}

/** The provider lets the first calls wait until the worker has come to rest. Those and the last tenth are not counted. */
async function drained(service, start) {
  const { submissions: before } = await service.provider.counts();
  const through = async (wanted) => {
    const lastMs = performance.now() + maxMs;
    for (;;) {
      const done = (await service.provider.counts()).submissions - before;
      if (done >= wanted) return done;
      if (performance.now() > lastMs) throw new Error(`only ${done} of ${runs} runs were submitted`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await service.provider.settings({ takesMs: 0, isClosed: true });
  const worker = await start();
  await through(concurrency);
  const pids = await processesOf(service, { worker });
  await service.provider.settings({ takesMs: 0 });
  const begun = await through(runs / 10);
  const cost = await metered(service, pids, async () => (await through(runs * 0.9)) - begun, { restMs: 0 });
  await worker.stop();
  return cost;
}

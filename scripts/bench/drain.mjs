// How fast workers drain waiting runs at a provider that answers immediately, compared with as many workers of
// BullMQ alone that make the same call between three statements on one row.
import { atMost, costGrowth, inTurns, share } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { hasRedis, skipped, startScript, startService, submitRuns } from './service.mjs';
import { isShort, sizeOf } from './size.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat '.repeat(160) });
const runs = sizeOf('DRAIN_RUNS');
const several = sizeOf('WORKERS');
const concurrency = 50;
const maxMs = 120_000;

export async function* run() {
  if (!hasRedis()) return yield skipped('redis-server is not installed');
  const service = await startService({ transport: 'redis' });
  try {
    const fifty = await service.customers(sizeOf('WORKSPACES'));
    const rounds = await inTurns(
      {
        floor: () => bare(service, 1),
        ours: () => drain(service, { spaces: fifty }),
        oneWorkspace: () => drain(service, { spaces: [service] }),
        floorOfSeveral: () => bare(service, several),
        oursOfSeveral: () => drain(service, { spaces: fifty, workers: several }),
      },
      (measure) => measure(),
    );
    for (const [what, ours, floor, aim] of [
      ['1 worker, 50 workspaces', 'ours', 'floor', 0.8],
      ['1 worker, one workspace', 'oneWorkspace', 'floor', 0.8],
      [`${several} workers, 50 workspaces`, 'oursOfSeveral', 'floorOfSeveral', 0.9],
    ]) {
      const rates = rounds.map((round) => ({ ours: round[ours].perSecond, floor: round[floor].perSecond }));
      const costs = rounds.map((round) => round[ours].cpu.postgres);
      yield {
        ...share(`runs drained by ${what}, against BullMQ, the same call and three statements`, rates, aim),
        more: [`a run: ${costText(rounds.at(-1)[ours])}`, `bare: ${costText(rounds.at(-1)[floor])}`],
      };
      yield atMost(`Postgres CPU of a run drained by ${what}`, costs, Infinity, 'ms', 2);
    }
    yield costGrowth(
      `Postgres CPU of a run drained by ${several} workers against 1, 50 workspaces`,
      rounds.map((round) => ({ ours: round.oursOfSeveral.cpu.postgres, floor: round.ours.cpu.postgres })),
      1.15,
    );
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

/** Many workers need a longer backlog: they drain a good part of it before the measurement has begun. */
const countedFor = (workers) => runs * Math.max(1, workers / 4);
/** Each worker also gets the calls that wait for its start. */
const backlogFor = (workers) => countedFor(workers) + workers * concurrency;

/**
 * Drains a backlog of the workspaces, with `postponed` more runs of the same provider that are due in an hour.
 */
export async function drain(service, { spaces, workers = 1, postponed = 0 }) {
  await service.empty();
  const gateway = await service.start('gateway');
  if (postponed > 0) {
    await submitRuns(spaces, gateway, { model, body, runs: postponed });
    await service.client.query(`UPDATE outbox SET waiting = false, due_at = now() + interval '1 hour'`);
    await service.dropMessages();
  }
  await submitRuns(spaces, gateway, { model, body, runs: backlogFor(workers) });
  await gateway.stop();
  // One workspace never gets the last quarter of the slots.
  const slots = spaces.length > 1 ? concurrency : Math.ceil(concurrency / 0.75);
  const settings = { WORKER_DISPATCH_CONCURRENCY: String(slots) };
  return drained(service, workers, () => service.start('worker', settings));
}

async function bare(service, workers) {
  await service.client.query('DROP TABLE IF EXISTS bare_drain');
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = service.env;
  const callUrl = `${service.provider.url}/openai/images/generations`;
  return drained(service, workers, (index) => {
    // The first worker creates the jobs.
    const jobs = index === 0 ? backlogFor(workers) : 0;
    return startScript('bare-drain.mjs', { databaseUrl, redisUrl, callUrl, body, jobs, concurrency });
  });
}

/**
 * The provider holds the first calls until the workers have settled. These calls and the first and last tenths do
 * not count.
 */
async function drained(service, workers, start) {
  const { submissions: before } = await service.provider.counts();
  const through = async (wanted) => {
    const lastMs = performance.now() + maxMs;
    for (;;) {
      const done = (await service.provider.counts()).submissions - before;
      if (done >= wanted) return done;
      if (performance.now() > lastMs) throw new Error(`only ${done} of ${wanted} runs were submitted`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await service.provider.settings({ takesMs: 0, isClosed: true });
  const first = await start(0);
  const others = Array.from({ length: workers - 1 }, (_each, index) => start(index + 1));
  const worker = [first, ...(await Promise.all(others))];
  const held = workers * concurrency;
  const counted = countedFor(workers);
  const end = held + counted * 0.9;
  await through(held);
  const pids = await processesOf(service, { worker });
  await service.provider.settings({ takesMs: 0 });
  await through(held + counted / 10);
  const work = async () => {
    const begun = await through(0);
    if (begun > (held + end) / 2 && !isShort)
      throw new Error('the backlog is too short: raise BENCH_DRAIN_RUNS');
    return (await through(end)) - begun;
  };
  const cost = await metered(service, pids, work, { restMs: 0 });
  await Promise.all(worker.map((each) => each.stop()));
  return cost;
}

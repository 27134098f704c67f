// How often one worker polls with many runs outstanding, compared with BullMQ alone making the same calls, and
// how much memory it needs for them.
import { setTimeout as pause } from 'node:timers/promises';
import { atMost, inRounds, share } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import {
  hasRedis,
  residentBytes,
  skipped,
  startScript,
  startService,
  submitRuns,
  until,
} from './service.mjs';
import { sizeOf } from './size.mjs';

const model = 'bfl/flux-2-pro';
const body = '{"prompt":"a cat"}';
const everyMs = 500;
const maxMs = 600_000;
const roundMs = sizeOf('ROUND_MS');
const many = sizeOf('OUTSTANDING');
const some = many * 0.4;

/** The aims: the share of bare BullMQ's polls, and the memory of a worker. */
export async function* run() {
  yield* byRows(some, { commits: 0.5 });
  if (!hasRedis()) return yield skipped('redis-server is not installed');
  yield* compared(some, { share: 0.5, mebibytes: Infinity });
  yield* compared(many, { share: 0.45, mebibytes: 300 });
}

async function* compared(outstanding, aims) {
  const service = await startService({ transport: 'redis' });
  try {
    const gateway = await service.start('gateway');
    await service.provider.settings({ takesMs: 3_600_000 });
    await submitRuns(service, gateway, { model, body, runs: outstanding });
    await gateway.stop();
    const ours = await polled(service, outstanding, () =>
      service.start('worker', { WORKER_DISPATCH_CONCURRENCY: '200' }, { rests: false }),
    );
    const pollUrl = `${service.provider.url}/bfl/v1/get_result?id=1&readyAt=${Date.now() + 3_600_000}`;
    const settings = { redisUrl: service.env.REDIS_URL, pollUrl, jobs: outstanding, everyMs };
    const floor = await polled(service, outstanding, () => startScript('bare-polls.mjs', settings));
    const each = ours.rounds.map((rate, round) => ({ ours: rate, floor: floor.rounds[round] }));
    const what = `polls of one worker with ${outstanding} outstanding runs against bare BullMQ`;
    yield {
      ...share(what, each, aims.share),
      more: [`a poll: ${costText(ours.cost)}`, `bare: ${costText(floor.cost)}`],
    };
    yield {
      ...atMost(`its memory with ${outstanding} outstanding runs`, ours.mebibytes, aims.mebibytes, 'MiB'),
      more: [`bare BullMQ: ${Math.round(floor.mebibytes)} MiB`],
    };
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

/** Without Redis: each poll takes its row and puts it back, together with others. */
async function* byRows(outstanding, aims) {
  const service = await startService({ transport: 'postgres' });
  try {
    const gateway = await service.start('gateway');
    await service.provider.settings({ takesMs: 3_600_000 });
    await submitRuns(service, gateway, { model, body, runs: outstanding });
    await gateway.stop();
    const { rounds: rates, cost } = await polled(service, outstanding, () =>
      service.start('worker', { WORKER_DISPATCH_CONCURRENCY: '200' }, { rests: false }),
    );
    yield {
      what: `commits a poll of one worker with ${outstanding} outstanding runs, without Redis`,
      measured: cost.commits.toFixed(2),
      aim: `≤ ${aims.commits}`,
      reached: cost.commits <= aims.commits,
      more: [`polls/s: ${rates.map(Math.round).join(', ')}`, `a poll: ${costText(cost)}`],
    };
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

/** All poll as often as they can; each run is due every half a second. */
async function polled(service, outstanding, start) {
  const polls = async () => (await service.provider.counts()).polls;
  const worker = await start();
  const lastMs = performance.now() + maxMs;
  while ((await service.provider.counts()).submissions < outstanding || (await polls()) === 0) {
    if (performance.now() > lastMs) throw new Error('not all runs were submitted in time');
    await pause(200);
  }
  await pause(sizeOf('EVEN_MS'));
  const pids = await processesOf(service, { worker });
  let found = [];
  const before = await polls();
  const cost = await metered(
    service,
    pids,
    async () => {
      found = await inRounds(async () => {
        const [begun, begunMs] = [await polls(), performance.now()];
        await pause(roundMs);
        // A short round may lie between the polls.
        await until(async () => (await polls()) > begun, 'a poll');
        return (((await polls()) - begun) * 1000) / (performance.now() - begunMs);
      });
      return (await polls()) - before;
    },
    { restMs: 0 },
  );
  const mebibytes = residentBytes(worker.pid) / 1024 / 1024;
  await worker.stop();
  return { rounds: found, cost, mebibytes };
}

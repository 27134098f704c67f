// The cost of a queued submission, a synchronous call and a whole run with Postgres as the transport, compared with
// Redis.
import { answeredInRound, atMost, durations, inRounds } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { hasRedis, startService, until } from './service.mjs';

const body = JSON.stringify({ prompt: 'a cat '.repeat(170) });
/** The first run ends with its submission; the second is polled and leaves an asset to copy. */
const [atOnce, polled] = ['openai/gpt-image-2', 'bfl/flux-2-pro'];
const transports = ['postgres', ...(hasRedis() ? ['redis'] : [])];

export async function* run() {
  for (const transport of transports) yield* costs(transport);
}

async function* costs(transport) {
  const service = await startService({ transport });
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  /** The aims are for Postgres as the transport. The first round warms up the apps and does not count. */
  const results = async function* (what, apps, work, { postgresMs, commits }) {
    await work();
    const pids = await processesOf(service, apps);
    const rounds = await inRounds(() => metered(service, pids, work), service.empty);
    const result = (figure, of, aim, unit) =>
      atMost(
        `${transport}: ${figure} of a ${what}`,
        rounds.map(of),
        transport === 'postgres' ? aim : Infinity,
        unit,
        2,
      );
    yield {
      ...result('Postgres CPU', ({ cpu }) => cpu.postgres, postgresMs, 'ms'),
      more: [costText(rounds.at(-1))],
    };
    if (commits !== undefined) yield result('commits', (cost) => cost.commits, commits, '');
  };
  try {
    const gateway = await service.start('gateway');
    const submits = (model, concurrency) => {
      const request = { path: `/v2/models/${model}/requests`, method: 'POST', headers, body };
      return answeredInRound(gateway.url, request, { concurrency, status: 201 });
    };
    yield* results('queued submit, 64 at once, no worker', { gateway }, () => submits(atOnce, 64), {
      postgresMs: 0.3,
      commits: 0.4,
    });
    await service.empty();

    const apps = { gateway, worker: await service.start('worker') };
    const call = async () => {
      const request = { path: `/v2/models/${atOnce}`, method: 'POST', headers, body };
      return (await durations(gateway.url, request, {})).length;
    };
    yield* results('synchronous call, provider of 0 ms, 16 at once', apps, call, {
      postgresMs: 2.5,
      commits: 4,
    });
    for (const [model, postgresMs] of [
      [atOnce, 1.7],
      [polled, 5.6],
    ]) {
      const runs = async () => {
        const requests = await submits(model, 16);
        await ended(service);
        return requests;
      };
      yield* results(`whole queued run of ${model}`, apps, runs, { postgresMs });
    }
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

function ended({ client }) {
  return until(async () => {
    const { rows } = await client.query('SELECT sum(inflight + backlog)::integer AS live FROM workspace');
    return rows[0].live === 0;
  }, 'the end of all runs');
}

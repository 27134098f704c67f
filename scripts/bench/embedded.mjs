// The cost of a queued submit and of a whole run where Postgres is the transport, beside Redis. The aims are half of what
// Postgres spent when it kept BullMQ's jobs as well.
import { answeredInRound } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { hasRedis, startService, until } from './service.mjs';

const body = JSON.stringify({ prompt: 'a cat '.repeat(170) });
/** One whose run ends with its submission, and one that is polled and leaves an asset to copy. */
const [atOnce, polled] = ['openai/gpt-image-2', 'bfl/flux-2-pro'];
const transports = ['postgres', ...(hasRedis() ? ['redis'] : [])];

export async function* run() {
  for (const transport of transports) yield* costs(transport);
}

async function* costs(transport) {
  const service = await startService({ transport });
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
  const result = (what, cost, aim) => ({
    what: `${transport}: ${what}`,
    measured: costText(cost),
    aim: transport === 'postgres' ? `Postgres ≤ ${aim} ms` : '',
    reached: transport !== 'postgres' || cost.cpu.postgres <= aim,
  });
  try {
    const gateway = await service.start('gateway');
    const submits = (model) => {
      const request = { path: `/v2/models/${model}/requests`, method: 'POST', headers, body };
      return answeredInRound(gateway.url, request, { status: 201 });
    };
    await submits(atOnce);
    const alone = await processesOf(service, { gateway });
    yield result('queued submit, no worker', await metered(service, alone, () => submits(atOnce)), 0.5);
    await service.empty();

    const worker = await service.start('worker');
    const both = await processesOf(service, { gateway, worker });
    for (const [model, aim] of [
      [atOnce, 1.7],
      [polled, 5.6],
    ]) {
      const runs = async () => {
        const requests = await submits(model);
        await ended(service);
        return requests;
      };
      await runs();
      yield result(`whole queued run of ${model}`, await metered(service, both, runs), aim);
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

// How fast webhooks reach receivers that answer at once, and what each costs beyond its run.
import { atLeast, atMost, inTurns } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startScript, startService, submitRuns, until } from './service.mjs';
import { sizeOf } from './size.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat '.repeat(160) });
const runs = sizeOf('WEBHOOK_RUNS');

export async function* run() {
  const receivers = await startScript('receivers.mjs', {});
  const service = await startService();
  try {
    const origins = Array.from({ length: 20 }, (_each, nth) =>
      receivers.url.replace('127.0.0.1', `127.0.0.${nth + 1}`),
    );
    const settings = { WEBHOOK_ALLOWED_ORIGINS: origins.join(',') };
    const apps = {
      gateway: await service.start('gateway', settings),
      worker: await service.start('worker', settings),
    };
    const rounds = await inTurns({ none: [], one: origins.slice(0, 1), twenty: origins }, (to) =>
      delivered(service, apps, receivers, to),
    );
    for (const [kind, what, least] of [
      ['one', 'one receiver', 300],
      ['twenty', 'twenty receivers', 300],
    ]) {
      const rates = rounds.map((round) => round[kind].rate);
      yield {
        ...atLeast(`webhooks delivered to ${what}`, rates, least, 'a second'),
        more: [
          `a run with its webhook: ${costText(rounds.at(-1)[kind])}`,
          `without: ${costText(rounds.at(-1).none)}`,
        ],
      };
      const costs = rounds.map((round) => round[kind].cpu.postgres - round.none.cpu.postgres);
      yield atMost(`Postgres CPU of a webhook to ${what}, beyond its run`, costs, 1.5, 'ms', 2);
    }
    await service.holdToInvariants();
  } finally {
    await service.stop();
    await receivers.stop();
  }
}

/** Completes runs whose webhooks wait for closed receivers, then opens these. `rate` is from a tenth of them on. */
async function delivered(service, apps, receivers, to) {
  const { client } = service;
  const set = (isClosed) =>
    fetch(`${receivers.url}/settings`, { method: 'POST', body: JSON.stringify({ isClosed }) });
  const counts = async () => (await fetch(`${receivers.url}/counts`)).json();
  const count = async (where) =>
    Number((await client.query(`SELECT count(*) FROM webhook WHERE ${where}`)).rows[0].count);
  await service.empty();
  await client.query('TRUNCATE webhook');
  await set(true);
  const before = (await counts()).answered;
  let rate = 0;
  const pids = await processesOf(service, apps);
  const cost = await metered(service, pids, async () => {
    await submitRuns(service, apps.gateway, {
      model,
      body,
      runs,
      webhooks: to.map((origin) => `${origin}/hook`),
    });
    await until(async () => (await client.query('SELECT FROM outbox LIMIT 1')).rows.length === 0, 'the runs');
    if (to.length > 0) {
      await set(false);
      const first = before + runs / 10;
      const last = before + (runs * 9) / 10;
      const reaches = async (wanted) => {
        let { answered } = await counts();
        while (answered < wanted) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          ({ answered } = await counts());
        }
        return { answered, atMs: performance.now() };
      };
      const [begin, end] = [await reaches(first), await reaches(last)];
      rate = ((end.answered - begin.answered) * 1000) / (end.atMs - begin.atMs);
      await until(async () => (await count('NOT delivered')) === 0, 'the webhooks');
    }
    return runs;
  });
  return { ...cost, rate };
}

// The cost of a queued submit beside a durable row and a job, by the size of the input, the number of callers at once and
// of workspaces. No worker runs; one statement now and then takes what was admitted, as workers that keep up would: each
// admission counts the granted runs before it that nobody has taken, up to a thousand. The last figure is without that.
import { setTimeout as pause } from 'node:timers/promises';
import { against, answeredInRound, perSecond, share } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startScript, startService } from './service.mjs';

const model = 'openai/gpt-image-2';
const cats = (kibibytes) => 'a cat '.repeat((kibibytes * 1024) / 6);
/** A prompt may not be as long as the largest of them. */
const inputOf = (kibibytes) => JSON.stringify({ prompt: cats(1), note: cats(kibibytes - 1) });

export async function* run() {
  const service = await startService();
  try {
    const gateway = await service.start('gateway');
    const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = service.env;
    const bare = await startScript('bare-runs.mjs', { databaseUrl, redisUrl });
    const others = await Promise.all(
      Array.from({ length: 49 }, (_each, index) => service.customer(`bench-${index}`)),
    );
    for (const [spaces, aim] of [
      [[service], 0.8],
      [[service, ...others], 0.75],
    ]) {
      for (const [kibibytes, concurrency] of [
        [1, 64],
        [1, 16],
        [1, 1],
        [64, 16],
      ]) {
        yield await compared(service, gateway, bare, { spaces, kibibytes, concurrency, aim });
        await service.empty();
      }
    }
    yield await compared(service, gateway, bare, {
      spaces: [service, ...others],
      kibibytes: 1,
      concurrency: 64,
      taken: false,
    });
    await bare.stop();
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

const takeEveryMs = 100;

/** Does it while what is admitted is taken. */
async function whileTaking({ client }, act) {
  const ended = new AbortController();
  const taking = (async () => {
    while (!ended.signal.aborted) {
      await client.query('UPDATE outbox SET dispatched = true WHERE NOT dispatched');
      await pause(takeEveryMs);
    }
  })();
  try {
    return await act();
  } finally {
    ended.abort();
    await taking;
  }
}

async function compared(service, gateway, bare, { spaces, kibibytes, concurrency, aim = 0, taken = true }) {
  const body = inputOf(kibibytes);
  const headers = spaces.map(({ key }) => ({ 'x-api-key': key, 'content-type': 'application/json' }));
  let at = 0;
  const submit = () => ({
    path: `/v2/models/${model}/requests`,
    method: 'POST',
    headers: headers[at++ % headers.length],
    body,
  });
  const floor = { path: '/submit', method: 'POST', headers: headers[0], body };
  const terms = { concurrency, status: 201 };
  const asTaken = taken ? (act) => whileTaking(service, act) : (act) => act();
  const ours = () => asTaken(() => perSecond(gateway.url, submit, terms));
  await ours();
  const rates = await against(() => perSecond(bare.url, floor, terms), ours);
  const cost = async (name, app, load) => {
    const pids = await processesOf(service, { [name]: app });
    return costText(await metered(service, pids, load));
  };
  const oursCost = await asTaken(() =>
    cost('gateway', gateway, () => answeredInRound(gateway.url, submit, terms)),
  );
  const bareCost = await cost('bare', bare, () => answeredInRound(bare.url, floor, terms));
  const isMain = kibibytes === 1 && concurrency === 64;
  return {
    ...share(
      `queued submit, ${kibibytes} KiB, ${spaces.length === 1 ? 'one workspace' : `${spaces.length} workspaces`}, ${concurrency} at once, ${taken ? '' : 'nobody takes them, '}against a bare row and job`,
      rates,
      isMain ? aim : 0,
    ),
    more: [`a request: ${oursCost}`, `bare: ${bareCost}`],
  };
}

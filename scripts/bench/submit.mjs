// The cost of a queued submission, compared with a durable row and a job, by size of the input, number of
// concurrent callers and number of workspaces. No worker runs; a statement now and then takes what was admitted,
// as workers that keep up would. The last figures are for workspaces whose runs are never taken: counting the
// runs ahead must not make admission expensive.
import { setTimeout as pause } from 'node:timers/promises';
import { against, answeredInRound, costGrowth, perSecond, share } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startScript, startService, submitRuns } from './service.mjs';
import { sizeOf } from './size.mjs';

const model = 'openai/gpt-image-2';
const cats = (kibibytes) => 'a cat '.repeat((kibibytes * 1024) / 6);
/** `prompt` is limited in length, so the rest of a large input goes into `note`. */
const inputOf = (kibibytes) => JSON.stringify({ prompt: cats(1), note: cats(kibibytes - 1) });

export async function* run() {
  const service = await startService();
  try {
    const gateway = await service.start('gateway');
    const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = service.env;
    const bare = await startScript('bare-runs.mjs', { databaseUrl, redisUrl });
    const fifty = await service.customers(many);
    for (const spaces of [[service], fifty]) {
      for (const [kibibytes, concurrency, aim] of [
        [1, 64, 0.85],
        [1, 16, 0.8],
        [1, 1, 0.7],
        [64, 16, 0],
      ]) {
        yield await compared(service, gateway, bare, { spaces, kibibytes, concurrency, aim });
        await service.empty();
      }
    }
    const spaces = await service.customers(many, 'waiting');
    await submitRuns(spaces, gateway, { model, body: inputOf(1), runs: spaces.length * waitingRuns });
    yield await behindWaiting(service, gateway, fifty, spaces);
    yield await compared(service, gateway, bare, {
      spaces,
      kibibytes: 1,
      concurrency: 64,
      aim: 0.85,
      taken: false,
    });
    await bare.stop();
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

const takeEveryMs = 100;
const waitingRuns = sizeOf('WAITING_EACH');
const many = sizeOf('WORKSPACES');

/** Runs `act` while the admitted runs of the workspaces are taken. */
async function whileTaking({ client }, spaces, act) {
  const ids = spaces.map(({ workspaceId }) => workspaceId);
  const ended = new AbortController();
  const taking = (async () => {
    while (!ended.signal.aborted) {
      await client.query(
        'UPDATE outbox SET dispatched = true, waiting = false WHERE NOT dispatched AND workspace_id = ANY ($1)',
        [ids],
      );
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

/** Creates the submissions of the workspaces, in turns. */
function submitsOf(spaces, body) {
  let at = 0;
  return () => {
    const key = spaces[at++ % spaces.length].key;
    return {
      path: `/v2/models/${model}/requests`,
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body,
    };
  };
}

/**
 * Postgres' CPU for a submission to workspaces whose runs wait, compared with workspaces whose runs are taken.
 */
async function behindWaiting(service, gateway, taken, waiting) {
  const pids = await processesOf(service, { gateway });
  const cost = async (spaces) => {
    const load = () =>
      answeredInRound(gateway.url, submitsOf(spaces, inputOf(1)), { concurrency: 64, status: 201 });
    return (await metered(service, pids, load)).cpu.postgres;
  };
  const withoutWaiting = () => whileTaking(service, taken, () => cost(taken));
  return costGrowth(
    `Postgres CPU of a submit, 64 at once, ${many} workspaces with ${waitingRuns} waiting runs each or more, against none`,
    await against(withoutWaiting, () => cost(waiting)),
    1.2,
  );
}

async function compared(service, gateway, bare, { spaces, kibibytes, concurrency, aim, taken = true }) {
  const body = inputOf(kibibytes);
  const submit = submitsOf(spaces, body);
  const floor = { ...submit(), path: '/submit' };
  const terms = { concurrency, status: 201 };
  const asTaken = taken ? (act) => whileTaking(service, spaces, act) : (act) => act();
  const ours = () => asTaken(() => perSecond(gateway.url, submit, terms));
  await ours();
  const rates = await against(
    () => perSecond(bare.url, floor, terms),
    ours,
    taken ? service.empty : undefined,
  );
  const cost = async (name, app, load) => {
    const pids = await processesOf(service, { [name]: app });
    return costText(await metered(service, pids, load));
  };
  const oursCost = await asTaken(() =>
    cost('gateway', gateway, () => answeredInRound(gateway.url, submit, terms)),
  );
  const bareCost = await cost('bare', bare, () => answeredInRound(bare.url, floor, terms));
  return {
    ...share(
      `queued submit, ${kibibytes} KiB, ${spaces.length === 1 ? 'one workspace' : `${spaces.length} workspaces`}, ${concurrency} at once, ${taken ? '' : `${waitingRuns} waiting runs each or more, `}against a bare row and job`,
      rates,
      aim,
    ),
    more: [`a request: ${oursCost}`, `bare: ${bareCost}`],
  };
}

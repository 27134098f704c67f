// Measures what budgets add to the cost of an admission and of a whole run, against a workspace without any.
import { answeredInRound, costGrowth, inTurns } from './load.mjs';
import { metered, processesOf } from './meter.mjs';
import { startService } from './service.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ prompt: 'a cat '.repeat(160) });
const endUsers = 40;
const scopes = {
  workspace: { what: 'three budgets of the workspace', aim: 1.1 },
  user: { what: 'three budgets of each end user', aim: 1.25 },
};

export async function* run() {
  const service = await startService();
  try {
    const customers = { none: await service.customer('none') };
    for (const scope of Object.keys(scopes)) {
      const budgets = ['day', 'week', 'month'].map((window) => ({ scope, window }));
      customers[scope] = await service.customer(scope, { budgets });
    }
    await service.provider.settings({ takesMs: 0 });
    const gateway = await service.start('gateway');
    const submission = { path: `/v2/models/${model}/requests`, status: 201 };
    yield* added(service, { gateway }, customers, 'an admission', submission);
    const worker = await service.start('worker');
    const call = { path: `/v2/models/${model}`, status: 200 };
    yield* added(service, { gateway, worker }, customers, 'a synchronous call', call);
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

async function* added(service, apps, customers, what, { path, status }) {
  const pids = await processesOf(service, apps);
  const load = (customer) =>
    answeredInRound(apps.gateway.url, requestsOf(customer, path), { concurrency: 64, status });
  const measure = async (customer) => {
    await service.empty();
    return (await metered(service, pids, () => load(customer))).totalMs;
  };
  for (const customer of Object.values(customers)) await measure(customer);
  const rounds = await inTurns(customers, measure);
  for (const [scope, { what: budgets, aim }] of Object.entries(scopes)) {
    const pairs = rounds.map((round) => ({ floor: round.none, ours: round[scope] }));
    yield costGrowth(`CPU of ${what}, 64 at once, with ${budgets}, against none`, pairs, aim);
  }
}

/** Requests of the end users, in turns. */
function requestsOf({ key }, path) {
  let at = 0;
  return () => ({
    path,
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      'x-service-user': `user-${at++ % endUsers}`,
    },
    body,
  });
}

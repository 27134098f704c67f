import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, type TestCaller, transports } from '../harness/index.js';
import { alertsOf, ofAccount, ofEachRow, ofEachShape, ofTime } from '../providers/cases.js';
import { crossAll, expectAsPlanned, oneOfEachShape, plan } from '../providers/crossing.js';
import { testedRows } from '../providers/rows.js';
import { callsMade, metric } from './metrics.js';

const folder = temporaryFolder('short-rows');
const rows = await testedRows(folder);

// These cases spend time budgets, pause providers for all runs, and count every submission. A row of each shape
// goes through all of them; every row goes through its provider's replies about our account.
const planned = [
  ...plan(oneOfEachShape(rows), [...ofEachRow, ...ofEachShape, ...ofTime]),
  ...rows.flatMap((row) => plan([row], ofAccount(row))),
];

let system: System;
let caller: TestCaller;
let ended: Awaited<ReturnType<typeof crossAll>>;

beforeAll(async () => {
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    takesMs: 50,
    issuedKeys: true,
    env: {
      CATALOG_DIR: folder,
      PROVIDER_POLL_PAUSE_MS: '300',
      PROVIDER_POLL_TIMEOUT_MS: '1000',
      // Run at most 50 at once, because more would delay the replies to polls beyond the time budgets.
      WORKER_DISPATCH_CONCURRENCY: '50',
      // Each run is a case of its own, so none may wait for the pause that another one caused.
      PROVIDER_MAX_PAUSE_MS: '10',
      // A copied asset has a new URL, but these tests compare the provider's own results.
      ASSET_MEDIA_TYPES: 'no/media',
    },
  });
  caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
  ended = await crossAll(system, caller, planned);
}, 420_000);
afterAll(() => system.stop());

describe.each(rows)('$model', (row) => {
  it.each(planned.filter((each) => each.row === row))('$each.name', (each) =>
    expectAsPlanned(system, each, ended),
  );
});

it('every rule holds, no run was submitted twice, and every slot is free', async () => {
  await holdToInvariants(system);
  expect(await system.sql('SELECT inflight, committed_micros::integer AS committed FROM workspace')).toEqual([
    { inflight: 0, committed: 0 },
  ]);
  // A content refusal may be charged; any other failure of a provider is not.
  const billed = `SELECT bucket FROM run WHERE outcome = 'failed' AND billed_micros > 0 AND bucket <> 'content_policy_violation'`;
  expect(await system.sql(billed)).toEqual([]);
  const [worker] = system.workers;
  if (!worker) throw new Error('no worker');
  const refused = worker
    .logs()
    .split('\n')
    .filter((line) => line.includes('submission failed, retrying'))
    .map((line) => (JSON.parse(line) as { run_id: string }).run_id);
  const wereToBeRefused = planned.flatMap(({ each, tag }) =>
    each.tokens.startsWith('429') ? [ended.get(tag)?.run.requestId] : [],
  );
  expect(refused.filter((runId) => !wereToBeRefused.includes(runId))).toEqual([]);
  // Whatever else a provider answers, the run is not sent again. The last rejection of a run that ends by it has
  // no next attempt.
  const endedByIt = planned.filter(({ each }) => each.bucket === 'service_unavailable').length;
  expect(await callsMade(worker, 'submit')).toBe(planned.length + refused.length - endedByIt);
  // On a busy machine a reply may come after its poll timed out, and is not seen.
  const unseen = (runId = '') =>
    worker
      .logs()
      .split('\n')
      .filter((line) => line.includes(runId) && line.includes('got no answer')).length;
  for (const provider of new Set(rows.map((row) => row.provider))) {
    const cases = planned.filter(({ row, each }) => row.provider === provider && alertsOf(each) > 0);
    const most = cases.reduce((sum, { each }) => sum + alertsOf(each), 0);
    const least = most - cases.reduce((sum, { tag }) => sum + unseen(ended.get(tag)?.run.requestId), 0);
    const alerts = await metric(worker, 'router_provider_account_errors_total', { provider });
    expect([provider, Math.min(Math.max(alerts, least), most)]).toEqual([provider, alerts]);
  }
  const entries = await system.provider.ledger();
  expect(new Set(entries.map(({ tag }) => tag)).size).toBe(entries.length);
});

failOnLeftovers();

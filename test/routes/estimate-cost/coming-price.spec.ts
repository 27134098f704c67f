import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RouterModelFullEntry } from '#schemas';
import { Caller, type Submitted } from '../../harness/caller.js';
import { withClockAt } from '../../harness/database.js';
import { longTimeouts } from '../../harness/long-timeouts.js';
import { temporaryFolder } from '../../harness/running.js';
import { gatewayEnvironment } from '../../harness/shared/described.js';
import { type App, spawnApp } from '../../harness/spawn-app.js';
import { gatewayForFile } from '../gateways.js';

const from = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
const catalog = temporaryFolder('catalog');
writeFileSync(
  path.join(catalog, 'changing.yaml'),
  `id: bfl/changing
upstream: { path: flux-2-pro }
charges_on_policy_rejection: unknown
price:
  - { usd: 0.01, times: [{ number: /n }] }
  - { from: ${from}, usd: 0.03, times: [{ number: /n }] }
`,
);
/** A gateway on the same database, whose clock is set to the time after the change. */
let later: App | undefined;
// It must stop before the database is dropped.
afterAll(() => later?.stop());
const gateway = gatewayForFile({ CATALOG_DIR: catalog });

beforeAll(async () => {
  const { databaseUrl, assets } = gateway();
  later = await spawnApp('gateway', {
    ...gatewayEnvironment(withClockAt(databaseUrl, '49 hours'), assets),
    ...longTimeouts,
    CATALOG_DIR: catalog,
  });
  await later.ready;
});

const id = 'bfl/changing';
const input = { body: '{"n":2}' };

/** The same workspace at the gateway before the change, and at the one after it. */
async function callers(): Promise<{ before: Caller; after: Caller }> {
  const { caller } = await gateway().caller({}, ['catalog', 'run']);
  return { before: caller, after: new Caller(() => [later?.url ?? ''], caller.key) };
}

const storedPrice = ({ requestId }: Submitted) =>
  gateway().database.reads.query(
    `SELECT reserved_micros::integer AS reserved, computed_micros::integer AS computed FROM run WHERE id = $1`,
    [requestId],
  );

const costing = (cents: number) => ({ expected_cents: cents, reserved_cents: cents, max_cents: cents });

const estimate = async (caller: Caller) => (await caller.call('POST', `/v2/models/${id}/cost`, input)).json();

/** The price in the list and in the model’s document. */
async function shown(caller: Caller) {
  const { data } = (await caller.call('GET', '/v2/models?view=full&q=changing')).json() as unknown as {
    data: RouterModelFullEntry[];
  };
  const document = (await caller.call('GET', `/v2/models/${id}/openapi.json`)).json();
  return [data.find((each) => each.id === id)?.price, document['x-service-price']];
}

it('a run keeps the price of its admission, which is that of the database’s day', async () => {
  const { before, after } = await callers();
  const early = await before.submit(id, input.body);
  const late = await after.submit(id, input.body);
  expect(await storedPrice(early)).toEqual([{ reserved: 20_000, computed: 20_000 }]);
  expect(await storedPrice(late)).toEqual([{ reserved: 60_000, computed: 60_000 }]);
  const costs = [];
  for (const run of [early, late]) {
    await gateway().finish(run, { outcome: 'succeeded', mediaType: 'text/plain', body: Buffer.from('done') });
    costs.push((await before.collect(run)).headers.get('x-service-cost-cents'));
  }
  expect(costs).toEqual(['2', '6']);
});

it('the estimate names the present cost and the coming one', async () => {
  const { before, after } = await callers();
  expect(await estimate(before)).toEqual({ ...costing(2), basis: 'computed', next: { from, ...costing(6) } });
  expect(await estimate(after)).toEqual({ ...costing(6), basis: 'computed' });
});

it('the full view of the catalog and the model’s document announce the change until it is in force', async () => {
  const { before, after } = await callers();
  const [old, next] = ['$0.01 × n', '$0.03 × n'];
  expect(await shown(before)).toMatchObject([
    { text: old, next: { from, from_usd: 0.03, unit: 'n', text: next } },
    { text: old, next: { from, text: next, usd: 0.03 } },
  ]);
  const [listed, documented] = await shown(after);
  expect([listed, documented]).toMatchObject([{ text: next }, { text: next }]);
  expect([listed, documented].map((each) => Object(each).next as unknown)).toEqual([undefined, undefined]);
});

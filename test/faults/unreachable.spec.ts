import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { settingStem } from '#providers';
import { metric } from './metrics.js';
import { freePort, type App, holdToInvariants, System } from '../harness/faults.js';
import {
  unending,
  failOnLeftovers,
  type Submitted,
  type TcpProxy,
  tcpProxy,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';
import { testedRows, withWords } from '../partners/rows.js';

const ways = ['refused connection', 'unknown name', 'broken handshake'] as const;
type Way = (typeof ways)[number];

const folder = temporaryFolder('short-rows');
const rows = await testedRows(folder);
const names = [...new Set(rows.map(({ provider }) => provider))];
// In the order of the list no way meets one kind of protocol only.
const wayOf = (provider: string): Way => ways[names.indexOf(provider) % ways.length] ?? ways[0];
/** They name their own addresses for polls: behind the proxy these would be another host's, which gets no key. */
const namingThemselves = ['fal', 'replicate'];
const throughTheDoor = rows.filter(({ provider }) => !namingThemselves.includes(provider));
/** Its polls go to another host, which stays there. */
const pollsElsewhere = 'bfl';

let system: System;
let caller: Awaited<ReturnType<System['caller']>>;
/** Stands between the router and all partners, or does not. */
let proxy: TcpProxy | undefined;
let proxyPort: number;
const openDoor = async () => {
  proxy = await tcpProxy({ port: Number(new URL(system.simulator.url).port) }, proxyPort);
};
const closeDoor = async () => {
  await proxy?.close();
  proxy = undefined;
};

const basesBy = (base: (provider: string) => string) =>
  Object.fromEntries(names.map((name) => [`${settingStem(name)}_BASE_URL`, `${base(name)}/${name}`]));

/** Runs of each row, whose words tell them apart in the partners' ledger. */
function submitEach(only: typeof rows, model: (row: (typeof rows)[number]) => string, what: string) {
  return Promise.all(
    only.map((row, index) => {
      const words = `[[sim:tag=${what}-${index}]]${what === 'outage' ? unending : ''}`;
      const headers = { 'idempotency-key': `${what}-${index}` };
      return caller.submit(model(row), JSON.stringify(withWords(row.example, words)), { headers });
    }),
  );
}

const completed = (runs: readonly Submitted[]) =>
  Promise.all(runs.map((run) => caller.completed(run, 60_000)));
const bucketsOf = async (runs: readonly Submitted[]) =>
  (await Promise.all(runs.map((run) => caller.collect(run)))).map(({ status, bucket }) => bucket ?? status);

/** Calls to a provider that never left this machine. */
const notSent = (worker: App, op: 'submit' | 'resume', provider: string) =>
  metric(worker, 'router_provider_request_duration_seconds_count', { op, provider, result: 'not_sent' });

async function eachTried(
  worker: App,
  op: 'submit' | 'resume',
  times: number,
  of: typeof rows,
): Promise<void> {
  const providers = [...new Set(of.map(({ provider }) => provider))];
  await waitFor(
    async () => {
      const tries = await Promise.all(providers.map((name) => notSent(worker, op, name)));
      const late = providers.filter((_name, index) => (tries[index] ?? 0) < times);
      if (late.length > 0) throw new Error(`not yet: ${late.join(', ')}`);
      return true;
    },
    { withinMs: 30_000, what: `every provider to be tried ${times} times`, everyMs: 100 },
  );
}

describe('a partner that cannot be reached', () => {
  let worker: App;

  beforeAll(async () => {
    system = await System.start({
      transport: transports()[0] ?? 'postgres',
      workers: 0,
      takesMs: 50,
      issuedKeys: true,
      env: { CATALOG_DIR: folder, PROVIDER_POLL_PAUSE_MS: '300', ASSET_MEDIA_TYPES: 'no/media' },
    });
    caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
    proxyPort = await freePort();
  });
  afterAll(async () => {
    await closeDoor();
    await system.stop();
  });

  it('gets nothing, and when the budget is spent its runs end and their keys are free', async () => {
    const nobody = await freePort();
    const bases: Record<Way, string> = {
      'refused connection': `http://127.0.0.1:${nobody}`,
      'unknown name': 'http://partner.invalid',
      // The simulator speaks no TLS.
      'broken handshake': system.simulator.url.replace('http:', 'https:'),
    };
    worker = await system.startWorker(basesBy((name) => bases[wayOf(name)]));
    const runs = await submitEach(rows, ({ short }) => short, 'never');
    await completed(runs);
    expect(await bucketsOf(runs)).toEqual(runs.map(() => 'service_unavailable'));
    const tries = await Promise.all(names.map((name) => notSent(worker, 'submit', name)));
    expect(Math.min(...tries)).toBeGreaterThanOrEqual(1);
    expect(await system.partner.ledger()).toEqual([]);
    expect(await system.sql('SELECT key FROM idempotency_key')).toEqual([]);
    const causes = new Set(worker.logs().match(/submit was not sent: \w+/g));
    expect([...causes].toSorted()).toEqual([
      'submit was not sent: connect',
      'submit was not sent: dns',
      'submit was not sent: tls',
    ]);
    system.forget(worker);
    await worker.stop();
  });

  it('is tried again, and gets each run once when it returns in time', async () => {
    worker = await system.startWorker(basesBy(() => `http://127.0.0.1:${proxyPort}`));
    const runs = await submitEach(throughTheDoor, ({ model }) => model, 'returns');
    await eachTried(worker, 'submit', 2, throughTheDoor);
    await openDoor();
    await completed(runs);
    expect(await bucketsOf(runs)).toEqual(runs.map(() => 200));
    expect(await system.partner.ledger()).toHaveLength(runs.length);
  });

  it('is polled on through an outage, and the run comes through', async () => {
    const polled = throughTheDoor.filter(
      ({ answers, provider }) => answers !== 'at once' && provider !== pollsElsewhere,
    );
    const before = (await system.partner.ledger()).length;
    const runs = await submitEach(polled, ({ model }) => model, 'outage');
    await waitFor(
      async () =>
        (await system.sql(`SELECT FROM run WHERE stage IN ('parked', 'ready', 'submitting')`)).length === 0,
      { withinMs: 30_000, what: 'every handle to be saved' },
    );
    await closeDoor();
    await eachTried(worker, 'resume', 1, polled);
    await openDoor();
    await system.partner.finish();
    await completed(runs);
    expect(await bucketsOf(runs)).toEqual(runs.map(() => 200));
    expect(await system.partner.ledger()).toHaveLength(before + runs.length);
  });

  it('holds to every rule', () => holdToInvariants(system));
});

failOnLeftovers();

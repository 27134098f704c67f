import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { freeze } from '../faults/postgres-side.js';
import { type App, freePort, System, withTools } from '../harness/faults.js';
import { foreignService, foreignTargets, startExporter } from '../harness/foreign-service.js';
import {
  failOnLeftovers,
  newTag,
  type ScriptedServer,
  tcpProxy,
  type TcpProxy,
  type TestCaller,
  transports,
  unending,
  waitFor,
} from '../harness/index.js';
import { type Prometheus, startPrometheus } from '../harness/prometheus.js';
import { AlertRecord } from './alert-record.js';
import { scaledRules } from './scaled-rules.js';
import { startSwift, type Swift } from './swift.js';
import { describeWithSwift, packages } from './with-swift.js';

const { describeWith, tools } = await withTools('prometheus');
const describeAll = describeWith === describe ? describeWithSwift : describeWith;

/** REAL_TIMES=1 waits as long as the committed rules do. */
const isReal = process.env['REAL_TIMES'] === '1';
const scale = isReal ? 1 : 0.1;
const everySeconds = isReal ? 15 : 1;
/** Scrapes, evaluations, the detection by the apps and a slow machine. */
const slackSeconds = isReal ? 60 : 40;
const loadEveryMs = isReal ? 1_000 : 250;

interface Place {
  system: System;
  caller: TestCaller;
  /** The submissions of its load; an outage of a provider changes them. */
  bodies: { model: string; prompt: string }[];
}
type PlaceName = 'data' | 'processes' | 'store' | 'providers';
/** When an alert fires: a threshold of the rule in seconds, and its windows and `for`, which are scaled. */
type Expected = Record<string, { after: number; holds: number }>;

interface Outage {
  what: string;
  place: PlaceName;
  begin: (place: Place) => unknown;
  end: (place: Place) => unknown;
  /** How long it lasts at least. */
  lasts: number;
  fires: Expected;
  /** Alerts that tell the truth about the callers' calls, but depend on how many of them are made. */
  mayFire?: RegExp;
}

const bfl = { model: 'bfl/flux-2-pro', prompt: 'a picture' };
/** With shortened waits these also fire on a machine that is busy for some seconds. */
const busyMachine =
  /^Router(NoGatewayReady|NoWorkerReady|DatabasePoolExhausted|EventLoopBlocked|AdmissionSlow|PollsLate|(Error|Latency)BudgetBurns(Fast|Slowly))$/;
const budgets = /^Router(Error|Latency)BudgetBurns(Fast|Slowly)$/;

describeAll('outages that really happen, beside a service of others', () => {
  let swift: Swift;
  let way: TcpProxy;
  let foreign: ScriptedServer;
  let prometheus: Prometheus;
  let record: AlertRecord;
  const places = {} as Record<PlaceName, Place>;
  const seen = new Map<string, Promise<{ beganMs: number; fired: AlertRecord['firings'] }>>();
  const loaded = new AbortController();
  const loads: Promise<void>[] = [];
  let thaw: (() => void) | undefined;

  const outages: readonly Outage[] = [
    {
      what: 'the database is silent for 2 min',
      place: 'data',
      begin: ({ system }) => (thaw = freeze(system.postgres)),
      end: () => thaw?.(),
      lasts: 120,
      fires: {
        RouterNoGatewayReady: { after: 0, holds: 60 },
        RouterNoWorkerReady: { after: 0, holds: 60 },
      },
      mayFire: budgets,
    },
    {
      what: 'Redis is down',
      place: 'data',
      begin: ({ system }) => system.redis?.kill('SIGKILL'),
      end: ({ system }) => system.redis?.restart(),
      lasts: 300,
      fires: {
        RouterNoWorkerReady: { after: 0, holds: 60 },
        RouterOutboxOverdue: { after: 30, holds: 120 },
      },
      mayFire: budgets,
    },
    {
      what: 'a provider rejects our key',
      place: 'data',
      begin: ({ bodies }) => bodies.push({ model: 'fal/flux-dev', prompt: '[[sim:401]]' }),
      end: ({ bodies }) => bodies.pop(),
      lasts: 60,
      fires: { RouterProviderRefusesOurAccount: { after: 0, holds: 0 } },
    },
    {
      what: 'all gateways are gone',
      place: 'processes',
      begin: ({ system }) => system.kill(system.gateways[0] as App),
      end: ({ system }) => startGatewayAgain(system),
      lasts: 120,
      fires: { RouterNoGatewayReady: { after: 0, holds: 60 } },
      mayFire: budgets,
    },
    {
      what: 'all workers are gone',
      place: 'processes',
      begin: async ({ system, caller }) => {
        // A run at the provider, whose polls become overdue.
        const tag = newTag('polled');
        await caller.submit(bfl.model, JSON.stringify({ prompt: `[[sim:tag=${tag}]]${unending}` }));
        await waitFor(async () => (await system.provider.ledger(tag)).length === 1, {
          withinMs: 60_000,
          what: 'a run at the provider',
        });
        const worker = system.workers[0] as App;
        workerPort = worker.port;
        await system.kill(worker);
      },
      end: ({ system }) => system.startWorker({}, { port: workerPort }),
      lasts: 700,
      fires: {
        RouterNoWorkerReady: { after: 0, holds: 60 },
        RouterOutboxOverdue: { after: 30, holds: 120 },
        RouterRunsWaitForWorkers: { after: 120, holds: 300 },
        RouterQueueStalled: { after: 0, holds: 600 },
      },
      mayFire: budgets,
    },
    {
      what: 'S3 is down',
      place: 'store',
      begin: () => way.set('reset'),
      end: () => way.set('pass'),
      lasts: 700,
      fires: { RouterStoreFails: { after: 0, holds: 600 } },
      // Results are not copied meanwhile, which is noticed later.
      mayFire: /^RouterAssetCopiesFail$/,
    },
    {
      what: 'a provider is down',
      place: 'providers',
      begin: ({ bodies }) => bodies.splice(0, 1, { ...bfl, prompt: '[[sim:500_submit]]' }),
      end: ({ bodies }) => bodies.splice(0, 1, bfl),
      lasts: 900,
      fires: { RouterProviderFails: { after: 0, holds: 720 } },
    },
  ];
  /** Processes that return get their former addresses, because Prometheus has a fixed list. */
  let workerPort = 0;
  let internalPort = 0;
  const startGatewayAgain = (system: System) => system.startGateway({ INTERNAL_PORT: String(internalPort) });

  beforeAll(async () => {
    const transport = transports().includes('redis') ? 'redis' : 'postgres';
    swift = await startSwift(packages);
    way = await tcpProxy({ port: swift.port });
    foreign = await startExporter(foreignService);
    const open = async (name: PlaceName, options: Partial<Parameters<typeof System.start>[0]> = {}) => {
      const system = await System.start({ transport, takesMs: 500, ...options });
      const limits = { inflightLimit: 1_000, windowLimit: 1_000_000, backlogLimit: 1_000_000 };
      places[name] = { system, caller: await system.caller(limits), bodies: [bfl] };
    };
    await open('data', { ownPostgres: true });
    internalPort = await freePort();
    await open('processes', { gateways: 0 });
    await startGatewayAgain(places.processes.system);
    await open('store', { env: { ...swift.settings, S3_ENDPOINT: `http://${way.address}` } });
    await open('providers');
    prometheus = await startPrometheus(tools.prometheus, {
      installations: Object.entries(places).map(([namespace, { system }]) => ({
        labels: { namespace, cluster: 'eu' },
        apps: system.apps,
      })),
      others: foreignTargets(foreign),
      rules: scaledRules(scale),
      everySeconds,
    });
    record = new AlertRecord(prometheus);
    for (const place of Object.values(places)) loads.push(load(place));
    // So that the rates know the time before each outage.
    await pause(Math.max(20, 300 * scale) * 1000);
    for (const name of Object.keys(places) as PlaceName[]) {
      let before: Promise<unknown> = Promise.resolve();
      for (const outage of outages.filter(({ place }) => place === name)) {
        const provoked = before.then(() => untilQuiet(name)).then(() => provoke(outage));
        provoked.catch(() => {});
        seen.set(outage.what, provoked);
        before = provoked.catch(() => {});
      }
    }
  }, 900_000);

  afterAll(async () => {
    await Promise.allSettled(seen.values());
    loaded.abort();
    await Promise.all(loads);
    await record.stop();
    await prometheus.stop();
    await foreign.stop();
    for (const { system } of Object.values(places)) await system.stop();
    await way.close();
    await swift.stop();
  }, 900_000);

  /** As a load balancer does, it calls no gateway that is not ready. */
  async function load({ system, caller, bodies }: Place): Promise<void> {
    while (!loaded.signal.aborted) {
      const [gateway] = system.gateways;
      if (gateway && (await isReady(gateway)))
        for (const { model, prompt } of bodies)
          await caller.submit(model, JSON.stringify({ prompt })).catch(() => {});
      await pause(loadEveryMs);
    }
  }

  async function provoke({ what, place: name, begin, end, lasts, fires }: Outage) {
    const place = places[name];
    const beganMs = Date.now();
    await begin(place);
    try {
      await pause(1000 * scale * lasts);
      const slowest = Math.max(...Object.values(fires).map(({ after, holds }) => after + scale * holds));
      await waitFor(
        async () => {
          const fired = new Set(record.since(name, beganMs).map((each) => each.name));
          return Object.keys(fires).every((each) => fired.has(each));
        },
        { withinMs: 1000 * (slowest + slackSeconds), what: `the alerts while ${what}`, everyMs: 1_000 },
      ).catch(() => {});
    } finally {
      await end(place);
    }
    return { beganMs, fired: record.since(name, beganMs) };
  }

  /** Rates remember a former outage for up to ten minutes, and waiting calls need a moment to be made. */
  const untilQuiet = async (name: PlaceName) => {
    await waitFor(async () => record.isQuiet(name), {
      withinMs: 1000 * (scale * 1_200 + 120),
      what: `the end of the former alerts of ${name}`,
      everyMs: 1_000,
    });
    await pause(300_000 * scale);
  };

  it.each(outages)(
    '$what',
    async ({ what, fires, mayFire }) => {
      const { beganMs, fired } = (await seen.get(what)) ?? { beganMs: 0, fired: [] };
      for (const { name, sinceMs, severity, summary } of fired)
        process.stdout.write(
          `${what} | ${name} | ${severity} | ${Math.round((sinceMs - beganMs) / 1000)} s | ${summary}\n`,
        );
      const unexpected = fired.filter(
        ({ name }) => !(name in fires || mayFire?.test(name) || (!isReal && busyMachine.test(name))),
      );
      expect(unexpected.map(({ name }) => name)).toEqual([]);
      expect([...new Set(fired.map(({ name }) => name).filter((name) => name in fires))].sort()).toEqual(
        Object.keys(fires).sort(),
      );
      for (const [name, { after, holds }] of Object.entries(fires)) {
        const first = fired.find((each) => each.name === name);
        const seconds = ((first?.sinceMs ?? 0) - beganMs) / 1000;
        expect({ name, seconds }).toEqual({ name, seconds: expect.any(Number) });
        const earliest = isReal ? after + holds - 2 * everySeconds : 0;
        expect(seconds).toBeGreaterThanOrEqual(earliest);
        expect(seconds).toBeLessThanOrEqual(after + scale * holds + slackSeconds);
        expect(first?.summary).not.toMatch(/\{\{|<no value>/);
      }
    },
    3_600_000,
  );

  it('fire nothing for the service of others, and nothing without a namespace', async () => {
    await Promise.allSettled(seen.values());
    expect(await prometheus.query('http_server_request_duration_seconds_count')).toHaveLength(2);
    expect(record.firings.filter(({ namespace }) => !(namespace in places))).toEqual([]);
  }, 3_600_000);
});

async function isReady({ url }: App): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) });
    await reply.body?.cancel();
    return reply.ok;
  } catch {
    return false;
  }
}

failOnLeftovers();

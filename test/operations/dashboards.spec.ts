import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { alerts } from '../../monitoring/src/alerts.js';
import { perEnvironment } from '../../monitoring/src/scope.js';
import { type App, withTools } from '../harness/faults.js';
import { foreignService, foreignTargets, startExporter } from '../harness/foreign-service.js';
import { failOnLeftovers, type ScriptedServer, transports, waitFor } from '../harness/index.js';
import { committedRules, installation, type Prometheus, startPrometheus } from '../harness/prometheus.js';
import { committedPanels, differences, type Period, shown } from './panels/evaluated.js';
import { KnownLoad } from './panels/known-load.js';
import { cpuSeconds } from './panels/process-sources.js';
import type { Known } from './panels/known.js';
import { sources } from './panels/sources.js';

const { describeWith, tools } = await withTools('prometheus');
const panels = committedPanels();
const isTable = ({ queries }: (typeof panels)[number]) => queries.some(({ rawSql }) => rawSql !== undefined);
const charts = panels.filter((panel) => !isTable(panel));
const tables = panels.filter(isTable);
const named = (over: string) => charts.filter(({ name }) => sources[name]?.over === over);

/** The autoscaler of the workers, as kube-state-metrics reports it. */
const autoscaler = [
  ['status_desired', 3],
  ['spec_max', 20],
] as const;

describeWith('a Prometheus that scrapes the running apps under load', () => {
  let load: KnownLoad;
  let known: Known;
  let prometheus: Prometheus;
  let foreign: ScriptedServer;
  let kubernetes: ScriptedServer;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    foreign = await startExporter(foreignService);
    kubernetes = await startExporter(
      autoscaler.map(([kind, start]) => ({
        series: `kube_horizontalpodautoscaler_${kind}_replicas{horizontalpodautoscaler="keda-hpa-worker"}`,
        start,
        grows: 0,
      })),
    );
    load = await KnownLoad.start(transport);
    const { system } = load;
    const killedMs = await load.loseWorker(async () => {
      prometheus = await startPrometheus(tools.prometheus, {
        installations: [{ labels: installation, apps: system.apps }],
        others: [...foreignTargets(foreign), { host: kubernetes.host, labels: installation }],
        // The committed interval of a minute would be longer than the test.
        rules: committedRules().replace('interval: 1m', 'interval: 1s'),
        everySeconds: 0.5,
      });
      await scraped(3);
    });
    // A counter that begins with its first event shows no rise, so each kind of event has happened before.
    await load.round(1);
    await scraped(2);
    const apps = [...system.gateways, ...system.workers] as App[];
    const [usedBefore, bytesBefore, beganMs] = [apps.map(cpuSeconds), load.storedBytes(), Date.now()];
    // Rates are extrapolated to the ends of their period, which matters less if nothing happens there.
    await scraped(2);
    await load.round(4);
    await scraped(2);
    known = {
      load,
      killedMs,
      beganMs,
      endedMs: Date.now(),
      storedBytes: [bytesBefore, load.storedBytes()],
      cpuSeconds: new Map(apps.map((app, index) => [app.pid, cpuSeconds(app) - (usedBefore[index] ?? 0)])),
    };
  }, 600_000);

  afterAll(async () => {
    await prometheus.stop();
    await load.stop();
    await foreign.stop();
    await kubernetes.stop();
  });

  /** Waits until every process has been scraped at least twice from now on. */
  async function scraped(processes: number): Promise<void> {
    const fromMs = Date.now();
    const twice = 'count(count_over_time(router_ready[5s]) >= 2)';
    await waitFor(
      async () =>
        Date.now() - fromMs > 6_000 && Number((await prometheus.query(twice))[0]?.value[1]) >= processes,
      { withinMs: 60_000, what: 'scrapes of all processes', everyMs: 500 },
    );
  }

  const period = (fromMs: number, toMs = known.endedMs): Period => ({ from: fromMs / 1000, to: toMs / 1000 });

  async function compared({ name, queries }: (typeof panels)[number], over: Period): Promise<string[]> {
    const expected = (await sources[name]?.expected(known)) ?? [];
    const wrong = await Promise.all(
      queries.map(async ({ expr = '' }, index) => {
        const wanted = expected[index] ?? expected[0];
        if (!wanted) return [`no expectation for ${expr}`];
        return differences(await shown(prometheus, expr, over), expr, wanted, over);
      }),
    );
    return wrong.flat();
  }

  it('has a second source for every panel', () => {
    expect(Object.keys(sources).sort()).toEqual(charts.map(({ name }) => name).sort());
  });

  it.each(named('load'))('shows what happened: $name', async (panel) => {
    expect(await compared(panel, period(known.beganMs))).toEqual([]);
  });

  it.each(named('loss'))('shows what a killed worker left: $name', async (panel) => {
    expect(await compared(panel, period(known.killedMs))).toEqual([]);
  });

  it('shows what is held at the moment', async () => {
    const wrong: Record<string, string[]> = {};
    await load.hold(async () => {
      await scraped(2);
      // The gauges are read every 10 s.
      await waitFor(
        async () => {
          for (const panel of named('hold')) {
            wrong[panel.name] = await compared(panel, period(known.beganMs, Date.now()));
          }
          return Object.values(wrong).every((each) => each.length === 0);
        },
        { withinMs: 30_000, what: 'the gauges', everyMs: 1_000 },
      ).catch(() => {});
    });
    expect(Object.fromEntries(Object.entries(wrong).filter(([, each]) => each.length > 0))).toEqual({});
  });

  it.each(tables)(
    'lists what the callers submitted: $name',
    async ({ name, queries: [{ rawSql = '' } = {}] }) => {
      const sql = rawSql.replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 > now() - interval '1 hour'");
      const rows = await load.system.sql<Record<string, string>>(sql);
      expect(rows.length).toBeGreaterThan(0);
      const outcomes = await load.system.sql<{ id: string; outcome: string }>(
        'SELECT id, outcome FROM run WHERE outcome IS NOT NULL',
      );
      const outcome = new Map(outcomes.map((row) => [row.id, row.outcome]));
      const [column = ''] = Object.keys(rows[0] ?? {});
      const subject = (run: (typeof load.runs)[number]): string =>
        ({
          workspace: run.workspace,
          model: run.model,
          provider: run.model.replace(/\/.*/, ''),
          'workspace and model': `${run.workspace} ${run.model}`,
        })[column] ?? name;
      for (const row of rows) {
        const own = load.runs.filter((run) => subject(run) === row[column] && outcome.has(run.runId));
        const failed = own.filter(({ runId }) => outcome.get(runId) === 'failed');
        expect({ ...row, runs: Number(row['runs']), failed: Number(row['failed']) }).toMatchObject({
          runs: own.length,
          failed: failed.length,
          'share failed': (failed.length / own.length).toFixed(4),
        });
      }
    },
  );

  it.each(alerts.map(({ name, expression }) => ({ name, expression: perEnvironment(expression) })))(
    'understands alert $name',
    async ({ expression }) => expect(Array.isArray(await prometheus.query(expression))).toBe(true),
  );
});

failOnLeftovers();

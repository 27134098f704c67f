import { readFileSync } from 'node:fs';
import { type App, residentBytes } from '../../harness/faults.js';
import { callsOf, seconds } from './books.js';
import type { Expected } from './evaluated.js';
import type { Known, Source } from './known.js';

/** The CPU seconds that a process has used. */
export function cpuSeconds({ pid }: App): number {
  const [, text = ''] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  const fields = text.split(' ');
  const ticksPerSecond = 100;
  // The times in user and in kernel mode, of which the state is the first field after the name.
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

const running = ({ load }: Known): App[] => [...load.system.gateways, ...load.system.workers];
const keyOf = (app: App): string => `${app.name} ${new URL(app.internalUrl).host}`;
const each = (known: Known, bounds: (app: App) => readonly [number, number]): Expected[] => [
  { bounds: Object.fromEntries(running(known).map((app) => [keyOf(app), bounds(app)])) },
];
const isReady = async ({ url }: App): Promise<number> => Number((await fetch(`${url}/health/ready`)).ok);
const readyOf = async (apps: readonly App[]): Promise<number> =>
  (await Promise.all(apps.map(isReady))).reduce((sum, one) => sum + one, 0);

/** Panels of the processes. */
export const processSources: Record<string, Source> = {
  'infrastructure: Versions': {
    from: 'the processes, and the answers of GET /health',
    over: 'hold',
    expected: async ({ load }) => {
      const { gateways, workers } = load.system;
      const answer = await fetch(`${gateways[0]?.url}/health`);
      const { version, revision } = (await answer.json()) as { version: string; revision: string };
      const release = `${revision.replace(/^(.{12})[0-9a-f]+/, '$1')} ${version}`;
      return [{ values: { [`gateway ${release}`]: gateways.length, [`worker ${release}`]: workers.length } }];
    },
  },
  'infrastructure: Ready processes': {
    from: 'the answers of the readiness probe',
    over: 'hold',
    expected: async ({ load }) => {
      return [
        {
          values: {
            gateway: await readyOf(load.system.gateways),
            worker: await readyOf(load.system.workers),
          },
        },
      ];
    },
  },
  'infrastructure: Event loop lag, p99': {
    from: 'the slowest answers of the liveness probe',
    over: 'hold',
    expected: (known) => each(known, () => [0, known.load.slowestProbe() + 0.1]),
  },
  'infrastructure: CPU': {
    from: 'the CPU times that the kernel counts',
    over: 'load',
    expected: (known) => {
      const lasted = (known.endedMs - known.beganMs) / 1000;
      return each(known, (app) => {
        const cores = (known.cpuSeconds.get(app.pid) ?? 0) / lasted;
        return [cores * 0.75 - 0.02, cores * 1.25 + 0.02];
      });
    },
  },
  'infrastructure: Restarts': {
    from: 'the processes, none of which was started again',
    over: 'hold',
    expected: (known) => each(known, () => [0, 0]),
  },
  'infrastructure: Memory': {
    from: 'the resident memory that the kernel counts',
    over: 'hold',
    expected: (known) => each(known, (app) => [residentBytes(app) * 0.7, residentBytes(app) * 1.3]),
  },
  'infrastructure: Database connections': {
    from: 'the sessions in pg_stat_activity',
    over: 'hold',
    expected: async ({ load }) => {
      const [row] = await load.system.sql<{ sessions: number }>(
        `SELECT count(*)::integer AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend'
          AND application_name NOT IN ('oracle', 'harness', 'open transaction')`,
      );
      return [{ total: row?.sessions ?? 0, of: /(busy|idle)$/, within: 4 }];
    },
  },
  'infrastructure: Oldest transaction': {
    from: 'the transaction that the test holds open',
    over: 'hold',
    expected: ({ load }) => [
      { bounds: { '': [load.transactionSeconds() - 13, load.transactionSeconds() + 1] } },
    ],
  },
  'infrastructure: Admission latency': {
    from: 'the times that the callers measured',
    over: 'load',
    expected: (known) => {
      const calls = callsOf(known).filter(({ method }) => method === 'POST');
      return [{ bounds: { '': [0.0005, Math.max(...seconds(calls))] } }];
    },
  },
};

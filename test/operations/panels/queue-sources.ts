import {
  counted,
  downloaded,
  lateness,
  live,
  ofRuns,
  phases,
  polled,
  provider,
  records,
  stateOf,
} from './books.js';
import { slotsEach } from './known-load.js';
import type { Known, Source } from './known.js';

/** The age of a row, as a gauge of the last 10 s may show it. */
const aged = (seconds = 0): [number, number] => [Math.max(0, seconds - 13), seconds + 2];

const slowestDispatch = async (known: Known): Promise<number> => {
  const [found] = await phases.expected(known);
  return found && 'samples' in found ? Math.max(...(found.samples['dispatch'] ?? [])) : 0;
};

/** Slots that the test keeps busy, and those of all workers. */
const slots = (name: string, busy: number, each: number): Source => ({
  from: 'the calls that the test keeps open, and the settings of the workers',
  over: 'hold',
  expected: ({ load }) => {
    const total = each * load.system.workers.length;
    return [{ bounds: { [`${name} busy`]: [busy, busy], [`${name} total`]: [total, total] } }];
  },
});

/** Panels of queues and workers. */
export const queueSources: Record<string, Source> = {
  'queues: Live runs by state': live(stateOf),
  'queues: Oldest waiting run': {
    from: records,
    over: 'hold',
    expected: async ({ load }) => {
      const [row] = await load.system.sql<{ parked: number; ltx: number }>(
        `SELECT extract(epoch FROM now() - min(admitted_at) FILTER (WHERE granted_at IS NULL))::float AS parked,
          extract(epoch FROM now() - min(granted_at) FILTER (WHERE provider = 'ltx'))::float AS ltx
        FROM run WHERE stage <> 'completed'`,
      );
      // The gauge is at most a round of 10 s old.
      return [{ bounds: { parked: aged(row?.parked), 'dispatch-ltx': aged(row?.ltx) } }];
    },
  },
  'queues: Jobs by queue': {
    from: 'the keys of the queues in Redis, and the rows of the runs',
    over: 'hold',
    expected: ({ load }) => load.jobs(),
  },
  'queues: Queue latency': {
    from: records,
    over: 'load',
    expected: async (known) => {
      const slowest = await slowestDispatch(known);
      return [{ bounds: { dispatch: [0, slowest * 2.5 + 0.01], poll: [0, 5], webhooks: [0, 5] } }];
    },
  },
  'queues: Poll lateness': {
    from: provider,
    over: 'load',
    expected: async (known) => [await lateness(known)],
  },
  'queues: Jobs taken': {
    from: `${provider}, and the calls of the receiver`,
    over: 'load',
    expected: async (known) => {
      const { load, beganMs, endedMs } = known;
      const webhooks = load.receiver.calls.filter(({ atMs }) => atMs >= beganMs && atMs <= endedMs).length;
      const [polls, copies] = await Promise.all([polled(known), downloaded(known)]);
      const { sent = 0 } = await ofRuns(known, 'load', `'sent'`, 'dispatched_at IS NOT NULL');
      return [{ counts: { dispatch: sent, poll: polls.length, assets: copies.length, webhooks } }];
    },
  },
  'queues: Workers': {
    from: 'the processes, and the planted autoscaler',
    over: 'hold',
    expected: ({ load }) => [
      { values: { '': load.system.workers.length } },
      { values: { '': 3 } },
      { values: { '': 20 } },
    ],
  },
  'queues: Submission slots': slots('fal', 2, slotsEach.dispatch),
  'queues: Poll slots': slots('fal', 2, slotsEach.poll),
  'queues: Asset slots': slots('bfl', 1, slotsEach.assets),
  'queues: Oldest overdue outbox row': {
    from: 'the rows of the outbox',
    over: 'hold',
    expected: async ({ load }) => {
      const [row] = await load.system.sql<{ seconds: number }>(
        `SELECT greatest(0, coalesce(extract(epoch FROM now() - min(due_at)), 0))::float AS seconds
        FROM outbox WHERE due_at < 'infinity'`,
      );
      return [{ bounds: { '': [0, (row?.seconds ?? 0) + 12] } }];
    },
  },
  'queues: Runs enqueued again by the reconciler': {
    from: 'the rows of the runs: none was started twice',
    over: 'load',
    expected: async (known) => [
      { counts: await ofRuns(known, 'load', `'dispatch'`, `crashes > 0 AND outcome = 'succeeded'`) },
    ],
  },
  'queues: Webhooks': {
    from: 'the calls of the receiver',
    over: 'load',
    expected: ({ load, beganMs, endedMs }) => [
      {
        counts: counted(
          load.receiver.calls.filter(({ atMs }) => atMs >= beganMs && atMs <= endedMs),
          ({ path }) => (path === '/failing' ? 'refused' : 'delivered'),
        ),
      },
    ],
  },
  'queues: Stalled jobs and lost locks': {
    from: 'the one poll that the killed worker was making',
    over: 'loss',
    expected: () => [{ counts: { '': 1 } }, { counts: { '': 0 } }],
  },
};

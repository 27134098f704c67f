import {
  callers,
  callsOf,
  counted,
  downloaded,
  lateness,
  live,
  ofRuns,
  phases,
  polled,
  provider,
  records,
  runs,
  stateOf,
  submitted,
} from './books.js';
import { keyName } from './known-load.js';
import type { Source } from './known.js';

/** The calls to the provider, by operation and result, after `prefix`. */
function callsToProvider(prefix: string): Source {
  return {
    from: provider,
    over: 'load',
    expected: async (known) => {
      const [posts, gets] = await Promise.all([submitted(known), polled(known)]);
      const classed = (of: typeof posts, operation: string) =>
        counted(of, ({ status }) => `${prefix}${operation} ${String(status).charAt(0)}xx`);
      return [{ counts: { ...classed(posts, 'submit'), ...classed(gets, 'resume') } }];
    },
  };
}

/** Panels of providers, their assets, and money. */
export const providerSources: Record<string, Source> = {
  'providers: Runs by outcome': runs(
    `CASE WHEN bucket IS NULL THEN '' ELSE bucket || ' ' END || outcome`,
    `provider = 'bfl'`,
  ),
  'providers: Time of finished runs': { ...phases, expected: (known) => phases.expected(known, 'bfl') },
  'providers: Call latency': {
    from: 'direct calls to the simulated provider during the load',
    over: 'load',
    expected: ({ load }) => [
      { samples: { submit: load.directSeconds, resume: load.directSeconds }, factor: 20 },
    ],
  },
  'providers: Calls by result': callsToProvider(''),
  'providers: Calls by key': callsToProvider(`${keyName} `),
  'providers: Live runs': live(stateOf, `provider = 'bfl'`),
  'providers: Slots': {
    from: 'the settings of the worker, and the copy that the test keeps slow',
    over: 'hold',
    expected: ({ load }) => load.slotsOf(),
  },
  'providers: Poll lateness': {
    from: provider,
    over: 'load',
    expected: async (known) => [await lateness(known)],
  },
  'providers: Problems': {
    from: `${provider}, and ${records}`,
    over: 'loss',
    expected: async (known) => {
      const posts = (await known.load.requests()).filter(
        ({ atMs, method, path }) => method === 'POST' && path.startsWith('/bfl/') && atMs >= known.killedMs,
      );
      const of = (...statuses: number[]) =>
        posts.filter(({ status }) => status !== null && statuses.includes(status)).length;
      const unknown = await ofRuns(known, 'loss', `''`, `provider = 'bfl' AND bucket = 'internal_error'`);
      return [
        { counts: { '': of(401, 402, 403) } },
        { counts: unknown },
        { counts: { submit: of(429), poll: 0 } },
      ];
    },
  },
  'providers: Unexpected replies': {
    from: 'the polls that the simulated provider answered with an unknown status',
    over: 'load',
    expected: async ({ load, beganMs }) => [
      {
        counts: {
          unknown_status: await load.unknownStatuses(beganMs),
          unknown_error: 0,
          unreadable: 0,
          no_files: 0,
          missing_asset: 0,
          missing_cost: 0,
        },
      },
    ],
  },

  'assets: Copies by outcome': {
    from: 'the downloads that the simulated provider served',
    over: 'load',
    expected: async (known) => [
      {
        counts: counted(await downloaded(known), ({ status }) => (status === 200 ? 'copied' : 'status')),
      },
    ],
  },
  'assets: Bytes copied': {
    from: 'the sizes of the stored files',
    over: 'load',
    expected: ({ storedBytes: [before, after] }) => [{ counts: { '': after - before } }],
  },
  'assets: Time that copying adds to a run': {
    from: records,
    over: 'load',
    expected: async (known) => {
      const [found] = await phases.expected(known);
      const { assets = [] } = found && 'samples' in found ? found.samples : {};
      return [{ samples: { '': assets } }];
    },
  },
  'assets: Store calls': {
    from: 'the downloads that the simulated provider served, and the answers that the callers got',
    over: 'load',
    expected: async (known) => [
      {
        counts: {
          'put unavailable': callsOf(known).filter(({ status }) => status === 503).length,
          'put ok': (await downloaded(known)).filter(({ status }) => status === 200).length,
        },
      },
    ],
  },
  'assets: Store latency': {
    from: records,
    over: 'load',
    expected: async (known) => {
      const [found] = await phases.expected(known);
      const { assets = [] } = found && 'samples' in found ? found.samples : {};
      return [{ bounds: { put: [0, 2.5 * Math.max(...assets)] } }];
    },
  },
  'assets: Orphaned objects': {
    from: 'the copy that the test keeps slow, and the answers 503 for want of a store',
    over: 'hold',
    expected: ({ load }) => [
      {
        values: { in_doubt: 1, left_behind: load.calls.filter(({ status }) => status === 503).length },
      },
    ],
  },

  'money: Committed and held': {
    from: 'the reserves of the live runs',
    over: 'hold',
    expected: async ({ load }) => {
      const [row] = await load.system.sql<{ committed: number; held: number }>(
        `SELECT coalesce(sum(reserved_micros) FILTER (WHERE granted_at IS NOT NULL), 0)::float / 1e6 AS committed,
          sum(reserved_micros)::float / 1e6 AS held FROM run WHERE stage <> 'completed'`,
      );
      return [{ values: { '': row?.committed ?? 0 } }, { values: { '': row?.held ?? 0 } }];
    },
  },
  'money: Billed per hour': {
    from: 'the entries of the ledger',
    over: 'load',
    expected: async ({ load, beganMs, endedMs }) => {
      const rows = await load.system.sql<{ provider: string; dollars: number }>(
        `SELECT provider, sum(billed_micros)::float / 1e6 AS dollars FROM audit_record
        WHERE completed_at BETWEEN to_timestamp($1) AND to_timestamp($2) AND billed_micros > 0 GROUP BY 1`,
        [beganMs / 1000, endedMs / 1000],
      );
      return [
        {
          counts: Object.fromEntries(rows.map(({ provider: name, dollars }) => [name, dollars])),
          per: 'hour',
        },
      ];
    },
  },
  'money: Rejected for spend or credits': {
    from: callers,
    over: 'load',
    expected: ({ load, beganMs }) => [
      { counts: load.rejected(beganMs, { poor: 'credits', capped: 'ceiling' }) },
    ],
  },
  'money: Failed runs, not billed': runs(`bucket || ' ' || provider`, `outcome = 'failed'`),
  'money: Counter drift': {
    from: 'the counters and rows of the database',
    over: 'load',
    expected: async ({ load }) => [{ counts: { '': (await load.system.drift()).length } }],
  },
  'money: Submissions with unknown outcome': {
    from: 'the one submission that the killed worker was making',
    over: 'loss',
    expected: () => [{ counts: { bfl: 1 } }],
  },
};

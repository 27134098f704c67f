// How much each benchmark does. A variable of the environment changes one number: BENCH_ROUNDS=10. With BENCH_SHORT=1
// each benchmark does just enough to show that it still works, and its times mean nothing.
const sizes = {
  /** Milliseconds that the database gets to report its statistics, and that a load gets to become even. */
  REST_MS: [1500, 0],
  EVEN_MS: [5000, 0],
  IDLE_MS: [30_000, 0],
  /** Milliseconds of load before it is measured: after a reset, Postgres plans its statements again. */
  WARM_MS: [1000, 0],
  /** Measurements of each kind, in turns. */
  ROUNDS: [3, 1],
  /** Milliseconds of load in each. */
  ROUND_MS: [5000, 150],
  /** Runs in a backlog. */
  DRAIN_RUNS: [6000, 500],
  /** Workers that share a backlog. */
  WORKERS: [4, 1],
  /** Workers that take the runs of one provider. */
  LINE_WORKERS: [10, 1],
  /** Finished runs in the database. */
  FINISHED: [1_000_000, 2000],
  /** Runs that wait in front of another one. */
  WAITING: [50_000, 12_500],
  /** Records of one workspace, its keys and its end users. */
  RECORDS: [1_000_000, 5000],
  KEYS: [100, 10],
  USERS: [10_000, 100],
  /** Rows of a catalog that a program has written, and the requests of each kind to them. */
  ROWS: [1500, 20],
  REQUESTS: [400, 20],
  /** Expired runs of a day. */
  EXPIRED: [200_000, 2000],
  NODES: [100_000, 2000],
  HELD_CALLS: [5000, 100],
  /** Event streams at once. */
  STREAMS: [200, 16],
  /** Submitted runs whose polls are due. */
  OUTSTANDING: [10_000, 100],
  WEBHOOK_RUNS: [3000, 100],
  /** Workspaces in a load of many, and the runs that wait in each. */
  WORKSPACES: [50, 5],
  WAITING_EACH: [760, 30],
  /** Minutes of an even load, and its runs a second. */
  MINUTES: [3, 0.05],
  RUNS_PER_SECOND: [15, 15],
  /** Seconds in which the runs of several workers are counted. */
  SECONDS: [12, 1],
  /** The share of those runs that is submitted. */
  LOAD: [1, 0.2],
};

export const isShort = process.env.BENCH_SHORT === '1';

export const sizeOf = (name) => Number(process.env[`BENCH_${name}`] ?? sizes[name][isShort ? 1 : 0]);

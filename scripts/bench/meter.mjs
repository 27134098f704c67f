// The cost of a load for each process: CPU from /proc, commits and write-ahead log from Postgres. These hold on a busy machine.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { childrenOf } from '../../dist/test/harness/servers.js';

const ticksPerSecond = 100;

/** The processes of a service by name, each with what it has started. Apps, also several under one name, are added by their pids. */
export async function processesOf({ client, env }, apps) {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const pids = { postgres: Number(fieldsOf(rows[0].pid)[1]) };
  if (env.REDIS_URL !== undefined) {
    const redis = new Redis(env.REDIS_URL);
    pids.redis = Number(/process_id:(\d+)/.exec(await redis.info('server'))[1]);
    redis.disconnect();
  }
  for (const [name, app] of Object.entries(apps)) pids[name] = [app].flat().map(({ pid }) => pid);
  return pids;
}

/**
 * Does the work, which answers how many requests it made, and says what each of them cost. `restMs` is how long the
 * database gets to report what it did before: none for work that goes on all the time.
 */
export async function metered({ client }, pids, work, { restMs = 1500 } = {}) {
  const databaseBefore = await written(client, restMs);
  const before = cpuMs(pids);
  const startedMs = performance.now();
  const requests = await work();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = cpuMs(pids);
  const databaseAfter = await written(client, restMs);
  const cpu = Object.fromEntries(
    Object.keys(pids).map((name) => [name, (after[name] - before[name]) / requests]),
  );
  return {
    requests,
    perSecond: requests / seconds,
    cpu,
    totalMs: Object.values(cpu).reduce((sum, ms) => sum + ms, 0),
    commits: (databaseAfter.commits - databaseBefore.commits) / requests,
    walBytes: (databaseAfter.wal - databaseBefore.wal) / requests,
  };
}

export const costText = ({ cpu, totalMs, commits, walBytes }) =>
  `${totalMs.toFixed(2)} ms CPU (${Object.entries(cpu)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
    .join(', ')}), ${commits.toFixed(2)} commits, ${(walBytes / 1024).toFixed(2)} KiB WAL`;

/** The commits of other sessions, as far as they have reported them, and the position of the log. */
async function written(client, restMs) {
  // Sessions report what they did when they have been idle for a moment.
  await pause(restMs);
  const { rows } = await client.query(
    `SELECT pg_stat_clear_snapshot(), xact_commit::float AS commits, (pg_current_wal_lsn() - '0/0')::float AS wal
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  return rows[0];
}

function cpuMs(pids) {
  return Object.fromEntries(Object.entries(pids).map(([name, each]) => [name, treesMs([each].flat())]));
}

const treesMs = (pids) => pids.reduce((sum, pid) => sum + treeMs(pid), 0);

/** The time of the process and its children; children that have ended are in its own account. */
function treeMs(pid) {
  const [user, system, endedUser, endedSystem] = fieldsOf(pid).slice(11, 15).map(Number);
  return treesMs(childrenOf(pid)) + ((user + system + endedUser + endedSystem) * 1000) / ticksPerSecond;
}

/** From the state on; the name before it may contain anything. None of a process that is gone. */
function fieldsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return Array(50).fill('0');
  }
}

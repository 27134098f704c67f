// The cost of a load for each process: CPU from /proc, commits and write-ahead log from Postgres. These figures hold
// on a busy machine too.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { childrenOf } from '../../dist/test/harness/servers.js';
import { sizeOf } from './size.mjs';

const ticksPerSecond = 100;

/**
 * The pids of a service by name. `apps` adds more, several under one name if need be; child processes are counted
 * with them.
 */
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
 * Runs `work`, which returns the number of requests it made, and returns the cost of each. `restMs` is how long the
 * database gets to report its earlier statistics; 0 for continuous work.
 */
export async function metered({ client }, pids, work, { restMs = sizeOf('REST_MS') } = {}) {
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

/** The commits that other sessions have reported, and the position of the write-ahead log. */
async function written(client, restMs) {
  // Sessions report their statistics after a moment without work.
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

/** The CPU time of the process and its live children; its own account includes children that have ended. */
export function treeMs(pid) {
  const [user, system, endedUser, endedSystem] = fieldsOf(pid).slice(11, 15).map(Number);
  return treesMs(childrenOf(pid)) + ((user + system + endedUser + endedSystem) * 1000) / ticksPerSecond;
}

/**
 * The fields from the state on, because the process name before it may contain anything. All zero if the process
 * is gone.
 */
function fieldsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return Array(50).fill('0');
  }
}

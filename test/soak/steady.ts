import { readdirSync, readFileSync } from 'node:fs';
import { childrenOf } from '../harness/servers.js';
import type { System } from '../harness/system.js';

/** Everything that grows if something leaks: memory and open files of processes, tables and their dead rows. */
export async function sizes(system: System): Promise<string[]> {
  const processes: [string, number[]][] = [
    ...system.gateways.map(({ pid }, at): [string, number[]] => [`gateway ${at + 1}`, [pid]]),
    ...system.workers.map(({ pid }, at): [string, number[]] => [`worker ${at + 1}`, [pid]]),
    ['Postgres', [system.postgres.pid, ...childrenOf(system.postgres.pid)]],
  ];
  const tables = await system.sql<{ name: string; kib: number; live: number; dead: number }>(
    `SELECT regexp_replace(relname, '_\\d{8}$|_p?\\d+$', '') AS name, sum(pg_total_relation_size(relid) / 1024)::float AS kib,
       sum(n_live_tup)::float AS live, sum(n_dead_tup)::float AS dead
     FROM pg_stat_user_tables GROUP BY 1 HAVING sum(n_live_tup + n_dead_tup) > 0 ORDER BY 2 DESC LIMIT 12`,
  );
  return [
    ...processes.map(
      ([name, pids]) =>
        `${name}: ${total(pids, ownMib).toFixed(0)} MiB of its own, ${total(pids, openFiles)} open files`,
    ),
    ...tables.map(({ name, kib, live, dead }) => `table ${name}: ${kib} KiB, ${live} rows, ${dead} dead`),
  ];
}

const total = (pids: readonly number[], of: (pid: number) => number): number =>
  pids.reduce((sum, pid) => sum + of(pid), 0);

/** Private memory, without the memory it shares with others, as the sessions of Postgres do. */
function ownMib(pid: number): number {
  const [, kib = '0'] = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** The sessions of Postgres belong to another user; what cannot be read counts as 0. */
function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

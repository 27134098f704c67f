import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freeze } from '../faults/postgres-side.js';
import { startPostgres } from '../harness/faults.js';
import { tcpProxy, waitFor } from '../harness/index.js';

interface ReplicatedPostgres {
  /** An address that always leads to the primary. */
  url: string;
  /**
   * Loses the primary, promotes the standby 2 s later, and redirects the address. A silent primary keeps its
   * connections, like a machine that lost its network, and is stopped 10 s later.
   */
  failOver(loss: 'is killed' | 'falls silent'): Promise<void>;
  stop(): Promise<void>;
}

/** A failover manager has to be sure before it acts. */
const noticedAfterMs = 2_000;
/** Longer than a statement may take, so that no client is still waiting when the primary is stopped. */
const silentForMs = 10_000;

/**
 * A primary that confirms a commit once its standby has it, the standby, and an address that follows the primary.
 */
export async function startReplicated(): Promise<ReplicatedPostgres> {
  const first = await startPostgres();
  // Without clients it stops at once, and its files are a complete backup.
  await first.kill('SIGTERM');
  const standby = await startPostgres({
    cluster: async (folder) => {
      await promisify(execFile)('cp', ['-a', path.join(first.folder, 'postgres'), folder]);
      writeFileSync(path.join(folder, 'data/standby.signal'), '');
    },
    settings: { primary_conninfo: `${first.url}?application_name=standby`, hot_standby: 'on' },
  });
  await first.restart();
  await tell(first.url, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
  await tell(first.url, 'SELECT pg_reload_conf()');
  const replicating = `SELECT FROM pg_stat_replication WHERE application_name = 'standby' AND sync_state = 'sync'`;
  await waitFor(async () => (await tell(first.url, replicating)) === 1, {
    withinMs: 30_000,
    what: 'the standby to replicate',
  });

  const primary = { port: first.port };
  const address = await tcpProxy(primary);
  const url = new URL(first.url);
  url.port = String(address.port);
  return {
    url: url.href,
    failOver: async (loss) => {
      const goOn = loss === 'falls silent' ? freeze(first) : undefined;
      if (!goOn) await first.kill('SIGKILL');
      await pause(noticedAfterMs);
      await tell(standby.url, 'SELECT pg_promote()');
      primary.port = standby.port;
      if (!goOn) return;
      await pause(silentForMs);
      // Frozen sessions would never end.
      goOn();
      await first.kill('SIGKILL');
    },
    stop: async () => {
      await address.close();
      await Promise.all([first.stop(), standby.stop()]);
    },
  };
}

/** Runs a statement and returns the number of affected rows. */
async function tell(url: string, sql: string): Promise<number | null> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return (await client.query(sql)).rowCount;
  } finally {
    await client.end();
  }
}

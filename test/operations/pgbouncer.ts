import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startServer } from '../../apps/local/src/servers/server-process.js';
import { freePort } from '../harness/faults.js';
import { temporaryFolder } from '../harness/index.js';
import { noteEnded, noteStarted, runRecords } from '../harness/running.js';

interface PgBouncer {
  /** The pooler's URL for the URL of a database behind it. */
  url(database: string): string;
  /** Kills it like a crash, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * PgBouncer in transaction mode, with so few sessions that consecutive transactions probably get different ones.
 */
export async function startPgBouncer(program: string, server: string): Promise<PgBouncer> {
  const folder = temporaryFolder('pgbouncer');
  const { hostname, port: serverPort, username, password } = new URL(server);
  const port = await freePort();
  const configuration = path.join(folder, 'pgbouncer.ini');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    configuration,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`,
  );
  const start = async () => {
    const started = await startServer({
      name: 'pgbouncer',
      command: program,
      // It refuses to run as root, and switches to the account after it has read its configuration.
      args: [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), configuration],
      env: {},
      logPath: path.join(folder, 'log'),
      records: runRecords(),
      readyText: /process up/,
    });
    noteStarted({ pid: started.pid, name: 'pgbouncer', end: () => started.stop() });
    return started;
  };
  let pooler = await start();
  const stop = async () => {
    await pooler.stop();
    noteEnded(pooler.pid);
  };
  const restart = async () => {
    process.kill(pooler.pid, 'SIGKILL');
    await pooler.ended;
    noteEnded(pooler.pid);
    pooler = await start();
  };
  const url = (database: string) => {
    const behind = new URL(database);
    behind.port = String(port);
    return behind.href;
  };
  return { url, restart, stop };
}

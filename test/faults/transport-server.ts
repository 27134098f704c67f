import { childrenOf } from '../harness/faults.js';
import { failOnLeftovers, startRedis, type TransportKind } from '../harness/index.js';
import { startDatabaseServer } from '../harness/own-postgres.js';
import { type Bench, benchOn } from '../transport/bench.js';

/** A server for one test file, with the faults it can have. */
interface FaultyServer {
  readonly url: string;
  /** Without warning; `restart` finds the data that was on disk. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** It stops answering and closes no connection. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

async function startServer(kind: TransportKind): Promise<FaultyServer> {
  const server = kind === 'redis' ? await startRedis() : (await startDatabaseServer()).server;
  // Postgres answers through its child processes, and a killed server leaves them running for a moment.
  const signal = (name: NodeJS.Signals) => signalAll([server.pid, ...childrenOf(server.pid)], name);
  return {
    url: server.url,
    kill: async () => {
      signalAll(childrenOf(server.pid), 'SIGKILL');
      await server.kill('SIGKILL');
    },
    restart: () => server.restart(),
    freeze: () => {
      // The server first, because it could start another session meanwhile.
      process.kill(server.pid, 'SIGSTOP');
      signal('SIGSTOP');
    },
    thaw: () => signal('SIGCONT'),
    stop: () => server.stop(),
  };
}

/** Transports on a separate server that the tests kill and freeze; call it in a `describe`. */
export function faultyBench(kind: TransportKind): { bench: () => Bench; server: () => FaultyServer } {
  const both = benchOn(kind, startServer);
  failOnLeftovers();
  return both;
}

function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // The process ended by itself meanwhile.
    }
  }
}

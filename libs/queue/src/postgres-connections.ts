import { Client, Pool } from 'pg';
import { settlesWithin } from './bounded.js';

/** BullMQ's tables live in a schema of their own; its SQL names them without it. */
const SEARCH_PATH = '-c search_path=bullmq';
const BETWEEN_FAILURES_MS = 200;
const SHUT_MS = 500;

type Socket = { destroy(): void };

/**
 * The URL with the search path among its start-up options: options in a URL replace those given beside
 * it, so both must stand in one place.
 */
export function withSearchPath(url: string): string {
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.set('options', given === null ? SEARCH_PATH : `${given} ${SEARCH_PATH}`);
  return parsed.toString();
}

/**
 * A pool whose waits all end, and which can be cut. After a failed query it pauses a moment before it
 * says so: BullMQ's worker asks again at once, and would burn a processor while the server starts.
 */
export class BoundedPool extends Pool {
  private readonly sockets = new Set<Socket>();

  constructor(url: string, max: number, timeoutMs: number, applicationName: string) {
    super({
      connectionString: withSearchPath(url),
      max,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: applicationName,
      allowExitOnIdle: true,
    });
    this.on('error', () => {});
    this.on('connect', (client) => {
      const socket = socketOf(client);
      this.sockets.add(socket);
      // BullMQ checks clients out without listening for errors, and an unheard one ends the process.
      client.on('error', () => {});
      client.once('end', () => this.sockets.delete(socket));
    });
  }

  /** Ends the pool, by its sockets when the server does not answer. */
  async shut(): Promise<void> {
    await settlesWithin(this.end(), SHUT_MS);
    for (const socket of this.sockets) socket.destroy();
  }
}

/** The same pool for workers. */
export class PatientPool extends BoundedPool {
  override query = (async (...call: unknown[]) => {
    try {
      return await (super.query as (...call: unknown[]) => Promise<unknown>)(...call);
    } catch (error) {
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_FAILURES_MS));
      throw error;
    }
  }) as Pool['query'];
}

/** One session of its own, for LISTEN or for migrations. */
export function session(url: string, applicationName: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 30_000,
    keepAlive: true,
    application_name: applicationName,
  });
  client.on('error', () => {});
  return client;
}

/** Ends a session, by its socket when the server does not answer. */
export async function endSession(client: Client): Promise<void> {
  if (!(await settlesWithin(client.end(), SHUT_MS))) socketOf(client).destroy();
}

function socketOf(client: unknown): Socket {
  return (client as { connection: { stream: Socket } }).connection.stream;
}

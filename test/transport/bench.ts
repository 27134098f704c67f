import { randomUUID } from 'node:crypto';
import {
  type Consumer,
  createTransport,
  type Delivery,
  type Handler,
  type Log,
  queueSettings,
  type Transport,
} from '#queue';
import { readSettings } from '#schemas';
import type { TcpProxy, TransportKind } from '../harness/index.js';
import { until } from './until.js';
import { wiped } from './wiped.js';

export class Lines implements Log {
  readonly lines: string[] = [];
  info = (_facts: object, message: string) => void this.lines.push(`info ${message}`);
  warn = (_facts: object, message: string) => void this.lines.push(`warn ${message}`);
  error = (_facts: object, message: string) => void this.lines.push(`error ${message}`);
}

/** The command timeout of a deployment; the other cases have one that a busy machine keeps. */
export const impatient = { QUEUE_COMMAND_TIMEOUT_MS: '500' };

/** Transports of one test against one server; `clear` closes what the test opened. */
export class Bench {
  private readonly open: Transport[] = [];
  readonly log = new Lines();

  constructor(
    readonly kind: TransportKind,
    readonly url: string,
  ) {}

  environment(changes: Record<string, string> = {}, proxy?: TcpProxy): Record<string, string> {
    const name = this.kind === 'redis' ? 'REDIS_URL' : 'DATABASE_URL';
    const url = new URL(this.url);
    if (proxy) url.port = `${proxy.port}`;
    return { [name]: url.href, QUEUE_COMMAND_TIMEOUT_MS: '5000', ...changes };
  }

  /** One that reaches the server through `proxy` where that is given. */
  async transport(changes: Record<string, string> = {}, proxy?: TcpProxy): Promise<Transport> {
    const settings = readSettings(queueSettings, this.environment(changes, proxy));
    const transport = await createTransport(settings, this.log);
    this.open.push(transport);
    return transport;
  }

  /** Empties what the queue keeps on the server. */
  wipe = (): Promise<void> => wiped(this.kind, this.url);

  async clear(): Promise<void> {
    await Promise.all(this.open.splice(0).map((transport) => transport.close()));
  }
}

/** A provider, and so on Redis a lane, that no other test uses. */
export const newProvider = () => `p${randomUUID().slice(0, 8)}`;
export const newRunId = () => randomUUID();

export function consume(transport: Transport, provider: string, handle: Handler, concurrency = 10): Consumer {
  return transport.consume({ lane: 'dispatch', provider, concurrency, handle });
}

export async function deliverOne(
  transport: Transport,
  provider: string,
  runId: string,
  afterMs = 0,
): Promise<boolean> {
  const [accepted] = await transport.deliver([{ lane: 'dispatch', provider, runId, afterMs }]);
  return accepted ?? false;
}

/** So many runs for one provider, due at once. */
export const newDeliveries = (count: number, provider: string): Delivery[] =>
  Array.from({ length: count }, () => ({ lane: 'dispatch', provider, runId: newRunId(), afterMs: 0 }));

/** Delivers until each was accepted: what is not taken in time is asked for again, as a worker's sweep does. */
export async function deliverAll(transport: Transport, items: readonly Delivery[]): Promise<void> {
  let open = items;
  await until(async () => {
    const accepted = await transport.deliver(open);
    open = open.filter((_, index) => !accepted[index]);
    return open.length === 0;
  }, 60_000);
}

/** Announces until it was heard: the first announcements may come before the listener's process has subscribed. */
export const announceUntil = (
  transport: Transport,
  runId: string,
  heard: () => boolean,
  withinMs: number,
): Promise<number> =>
  until(async () => {
    await transport.announce(runId);
    return heard();
  }, withinMs);

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/**
 * The records of a name. A name that is not listed does not exist; a listed name without records has no
 * addresses.
 */
interface Records {
  a?: string[];
  aaaa?: string[];
  /** The name whose records hold the addresses. */
  cname?: string;
  ttlSeconds?: number;
}

const types: Record<number, 'a' | 'aaaa'> = { 1: 'a', 28: 'aaaa' };
const cnameType = 5;
const nonexistent = 3;

/** A DNS server on the loopback address. It never answers for a name whose last label is `silent`. */
export class NameServer {
  /** The requested names, with the type of each query. */
  readonly asked: string[] = [];
  private readonly attempts = new Set<string>();

  private constructor(
    private readonly socket: Socket,
    private readonly records: Readonly<Record<string, Records>>,
  ) {
    socket.on('message', (query, from) => {
      const reply = this.reply(query);
      if (reply) socket.send(reply, from.port, from.address);
    });
  }

  static async start(records: Readonly<Record<string, Records>> = {}): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket, records);
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  /** The value for a worker's setting. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
  }

  private reply(query: Buffer): Buffer | null {
    const { name, end } = nameAt(query, 12);
    const type = types[query.readUInt16BE(end)];
    const question = `${type ?? 'other'} ${name}`;
    // A late answer, as on a busy machine, makes the client send the same query again.
    const attempt = `${query.readUInt16BE(0)} ${question}`;
    if (!this.attempts.has(attempt)) this.asked.push(question);
    this.attempts.add(attempt);
    if (/(^|\.)silent$/.test(name)) return null;
    const found = this.records[name];
    const target = found?.cname === undefined ? found : this.records[found.cname];
    const ttlSeconds = found?.ttlSeconds ?? 60;
    const answers = [
      ...(found?.cname === undefined ? [] : [record(name, cnameType, ttlSeconds, encoded(found.cname))]),
      ...(type === undefined ? [] : (target?.[type] ?? [])).map((address) =>
        record(found?.cname ?? name, type === 'a' ? 1 : 28, ttlSeconds, bytesOf(address)),
      ),
    ];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (found ? 0 : nonexistent), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    return Buffer.concat([head, query.subarray(12, end + 4), ...answers]);
  }
}

function nameAt(query: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

const encoded = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function record(name: string, type: number, ttlSeconds: number, data: Buffer): Buffer {
  const facts = Buffer.alloc(10);
  facts.writeUInt16BE(type, 0);
  facts.writeUInt16BE(1, 2);
  facts.writeUInt32BE(ttlSeconds, 4);
  facts.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), facts, data]);
}

/** An IPv6 address must be written in full, with all eight groups. */
const bytesOf = (address: string): Buffer =>
  isIP(address) === 4
    ? Buffer.from(address.split('.').map(Number))
    : Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      );

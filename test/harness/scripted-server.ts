import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request with its whole body. */
export class ReceivedCall {
  readonly atMs = Date.now();

  constructor(
    readonly method: string,
    readonly url: URL,
    readonly headers: Record<string, string>,
    readonly bytes: Buffer,
  ) {}

  /** With the query. */
  get path(): string {
    return `${this.url.pathname}${this.url.search}`;
  }

  get text(): string {
    return this.bytes.toString();
  }
}

/**
 * Answers the `nth` call of its path: at once, piece by piece, when the test lets it, never, or by destroying the
 * response, which resets the connection.
 */
export type Reply = (call: ReceivedCall, response: ServerResponse, nth: number) => unknown;

/** A server of others, such as a provider or a receiver of webhooks: it records all calls, and the test writes the replies. */
export class ScriptedServer {
  readonly calls: ReceivedCall[] = [];
  /** The number of accepted connections, with or without a call. */
  connections = 0;
  /** Replies by path, which take precedence over that of the server. */
  readonly paths = new Map<string, Reply>();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    // The caller has left before it sent everything.
    request.on('error', () => {});
    request.on('end', () => {
      const { method = '', headers } = request;
      const url = new URL(request.url ?? '', this.url);
      void this.answer(
        new ReceivedCall(method, url, headers as Record<string, string>, Buffer.concat(chunks)),
        response,
      );
    });
  });

  constructor(private readonly reply: Reply = status(404)) {
    this.server.on('connection', () => (this.connections += 1));
  }

  /** `reply` answers each path without a reply of its own. */
  static async start<Server extends ScriptedServer>(
    this: new (reply?: Reply) => Server,
    reply?: Reply,
    port = 0,
  ): Promise<Server> {
    const started = new this(reply);
    await once(started.server.listen(port, '127.0.0.1'), 'listening');
    return started;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  to(path: string): ReceivedCall[] {
    return this.calls.filter((call) => call.path === path);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The reply to a path that has none of its own. */
  protected replyTo(_call: ReceivedCall): Reply | Promise<Reply> {
    return this.reply;
  }

  private async answer(call: ReceivedCall, response: ServerResponse): Promise<void> {
    this.calls.push(call);
    const nth = this.to(call.path).length;
    const reply = this.paths.get(call.url.pathname) ?? (await this.replyTo(call));
    await reply(call, response, nth);
  }
}

/** A reply without a body. */
export const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (_call, response) =>
    response.writeHead(code, headers).end();

export const redirect = (location: string, code = 302): Reply => status(code, { location });

/** A value as JSON, or a text that is sent as it is. */
export const json = (body: unknown, code = 200, headers: Record<string, string> = {}): Reply =>
  content('application/json', typeof body === 'string' ? body : JSON.stringify(body), code, headers);

export const content =
  (mediaType: string, body: string | Buffer, code = 200, headers: Record<string, string> = {}): Reply =>
  (_call, response) =>
    response.writeHead(code, { 'content-type': mediaType, ...headers }).end(body);

/** Closes the connection without a reply. */
export const reset: Reply = (_call, response) => response.destroy();

/** A file of `bytes` bytes, generated as it is read. */
export const file =
  (mediaType: string, bytes: number, headers: Record<string, string> = {}): Reply =>
  (_call, response) => {
    response.writeHead(200, { 'content-type': mediaType, 'content-length': bytes, ...headers });
    sendPieces(response, 'a', bytes);
  };

/** Sends as many bytes as fast as they are read, until the other side stops. */
export function sendPieces(response: ServerResponse, filler: string, bytes = Infinity): void {
  const piece = Buffer.alloc(64 * 1024, filler);
  let left = bytes;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      const part = piece.subarray(0, Math.min(left, piece.length));
      left -= part.length;
      if (!response.write(part)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}

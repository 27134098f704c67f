import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

interface Seen {
  path: string;
  credential: string | undefined;
  body: string;
}

/**
 * An undeclared provider of the test's own: it answers at once, with a file, by jobs that end on request, or not
 * at all.
 */
export class OwnProvider {
  readonly submissions: Seen[] = [];
  /** While set, jobs keep running. */
  holding = false;
  /** Called once, during the next poll, which is answered afterwards. The job is running meanwhile. */
  duringPoll: (() => Promise<unknown>) | undefined;
  private readonly jobs = new Map<string, string>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OwnProvider> {
    const server = createServer();
    const upstream = new OwnProvider(server);
    server.on('request', (request, response) => void upstream.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search } = new URL(request.url ?? '/', this.url);
    const credential = request.headers['x-lab-key'];
    const send = (status: number, body: string | Buffer, type = 'application/json') =>
      response.writeHead(status, { 'content-type': type }).end(body);
    if (request.method === 'POST') {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString();
      this.submissions.push({ path: `${pathname}${search}`, credential: credential?.toString(), body });
      if (pathname.startsWith('/lost/')) return void request.socket.destroy();
      if (pathname.startsWith('/now/')) return void send(200, `{"echo": ${body}}`);
      if (pathname.startsWith('/refuse/')) {
        const { prompt } = JSON.parse(body) as { prompt: string };
        const detail = [{ loc: ['body', 'prompt'], msg: 'Not this.', type: 'value_error', input: prompt }];
        return void send(422, JSON.stringify({ detail }));
      }
      if (pathname.startsWith('/sound/'))
        return void send(200, Buffer.from([0xff, 0xfb, 0, 1]), 'audio/mpeg');
      const id = `job-${this.jobs.size + 1}`;
      this.jobs.set(id, body);
      return void send(200, JSON.stringify({ job: { id } }));
    }
    const [, , id = '', result] = pathname.split('/');
    const body = this.jobs.get(id);
    if (body === undefined) return void send(404, '{"error":"no such job"}');
    if (result !== undefined) return void send(200, `{"made of": ${body} }`);
    const { duringPoll } = this;
    this.duringPoll = undefined;
    await duringPoll?.();
    return void send(200, JSON.stringify({ state: this.holding || duringPoll ? 'BUSY' : 'FINE' }));
  }
}

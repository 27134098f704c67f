import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A provider that knows which keys it has issued, answers the later calls of a job only for the key that submitted it,
 * and repeats the caller's key in everything it says.
 */
export class KeyCheckingProvider {
  readonly issued = new Set<string>();
  /** The key and the prompt of each submission, in order. */
  readonly submissions: { key: string; prompt: string }[] = [];
  /** Calls about a job with another key than that of its submission. */
  readonly wrongKeys: string[] = [];
  /** While set, jobs keep running. */
  holding = false;
  private readonly jobs: { key: string }[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<KeyCheckingProvider> {
    const server = createServer();
    const upstream = new KeyCheckingProvider(server);
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
    const key = String(request.headers['x-lab-key']);
    const send = (status: number, body: object, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-key': key, ...headers })
        .end(JSON.stringify({ ...body, key, said: `the key is "${key}"` }));
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method === 'GET') return this.answerJob(request.url ?? '', key, send);
    const { prompt } = JSON.parse(Buffer.concat(chunks).toString()) as { prompt: string };
    this.submissions.push({ key, prompt });
    if (!this.issued.has(key)) return void send(401, { error: `the key ${key} is unknown` });
    if (prompt === 'busy') return void send(429, { error: `slow down, ${key}` }, { 'retry-after': '50' });
    if (prompt === 'broken') return void send(500, { error: `failed for ${key}` });
    if (prompt === 'refused') {
      const detail = [{ loc: ['body', 'prompt'], msg: `Not for ${key}.`, type: 'value_error' }];
      return void send(422, { detail });
    }
    this.jobs.push({ key });
    return void send(200, { job: { id: `job-${this.jobs.length}` } });
  }

  private answerJob(path: string, key: string, send: (status: number, body: object) => void): void {
    const [, , id = '', result] = path.split('/');
    const job = this.jobs[Number(id.replace('job-', '')) - 1];
    if (job?.key !== key) {
      this.wrongKeys.push(key);
      return send(404, { error: 'no such job' });
    }
    return send(200, result === undefined ? { state: this.holding ? 'BUSY' : 'FINE' } : { image: 'done' });
  }
}

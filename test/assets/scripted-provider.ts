import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A provider whose results a test writes: fal's queue, whose runs finish immediately, speech as a file,
 * and the assets that a result names.
 */
export class ScriptedProvider {
  /** Results of fal's models by prompt, as JSON text. */
  readonly results = new Map<string, string>();
  /** Answers by path: assets and speech. */
  readonly paths = new Map<string, Answering>();
  readonly asked: string[] = [];
  /** The submitted inputs by prompt. */
  readonly inputs = new Map<string, Record<string, unknown>>();
  private readonly prompts: string[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedProvider> {
    const server = createServer();
    const provider = new ScriptedProvider(server);
    server.on('request', (request, response) => void provider.answer(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /**
   * A result as a provider might write it: odd spacing, a number beyond double precision, and the URLs of its
   * images.
   */
  script(prompt: string, urls: readonly string[]): string {
    const images = urls.map((url) => `{ "url" : ${JSON.stringify(url)},"width":9007199254740993 }`);
    const text = `{"prompt":${JSON.stringify(prompt)},\r\n "images" : [${images.join(' , ')} ],"seed":1.0e2,"é":"\\u00e9"}\n`;
    this.results.set(prompt, text);
    return text;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.asked.push(path);
    const scripted = this.paths.get(path);
    if (scripted) return scripted(request, response);
    const [, id, what] = /^\/requests\/(\d+)(\/status)?$/.exec(path) ?? [];
    if (request.method === 'POST') json(response, await this.accept(request));
    else if (id === undefined) response.writeHead(404).end();
    else if (what === undefined) json(response, this.results.get(this.prompts[Number(id)] ?? '') ?? '{}');
    else json(response, '{"status":"COMPLETED"}');
  }

  private async accept(request: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const input = JSON.parse(Buffer.concat(chunks).toString()) as { prompt: string };
    const { prompt } = input;
    this.inputs.set(prompt, input);
    const address = `${this.url}/requests/${this.prompts.push(prompt) - 1}`;
    return JSON.stringify({
      request_id: address,
      status_url: `${address}/status`,
      response_url: address,
      cancel_url: `${address}/cancel`,
    });
  }
}

function json(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'application/json');
  response.end(text);
}

/** The URLs of the images in a result. */
export const urlsOf = (bytes: Buffer): string[] =>
  (JSON.parse(bytes.toString()) as { images: { url: string }[] }).images.map(({ url }) => url);

/** A file of `bytes` bytes, generated as it is read. */
export const file =
  (mediaType: string, bytes: number, headers: Record<string, string> = {}): Answering =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': mediaType, 'content-length': bytes, ...headers });
    let left = bytes;
    const piece = Buffer.alloc(64 * 1024, 'a');
    const more = () => {
      while (left > 0 && !response.destroyed) {
        const part = piece.subarray(0, Math.min(left, piece.length));
        left -= part.length;
        if (!response.write(part)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };

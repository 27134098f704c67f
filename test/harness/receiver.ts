import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { waitFor } from './wait-for.js';

interface ReceivedCall {
  path: string;
  headers: Record<string, string>;
  text: string;
  atMs: number;
}

/** How the receiver answers; 204 by default. */
type Answering = (call: ReceivedCall, response: ServerResponse, nth: number) => void;

/** An application's own server that receives webhooks. */
export class Receiver {
  readonly calls: ReceivedCall[] = [];

  private constructor(
    private readonly server: Server,
    answer: Answering,
  ) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => {});
      request.on('end', () => {
        const call = {
          path: request.url ?? '',
          headers: request.headers as Record<string, string>,
          text: Buffer.concat(chunks).toString(),
          atMs: Date.now(),
        };
        this.calls.push(call);
        answer(call, response, this.to(call.path).length);
      });
    });
  }

  static async start(
    answer: Answering = (_call, response) => response.writeHead(204).end(),
  ): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, answer);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  to(path: string): ReceivedCall[] {
    return this.calls.filter((call) => call.path === path);
  }

  /** Waits for the first call to a path, and verifies its signature against the secrets. */
  async signed(
    path: string,
    secrets: readonly string[],
    withinMs = 30_000,
  ): Promise<Record<string, unknown>> {
    const call = await waitFor(async () => this.to(path)[0], {
      withinMs,
      what: `a call of ${path}`,
      everyMs: 50,
    });
    return verified(call, secrets);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** The payload according to the official library; throws if none of the secrets made the signature. */
export function verified(call: ReceivedCall, secrets: readonly string[]): Record<string, unknown> {
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(call.text, call.headers) as Record<string, unknown>;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

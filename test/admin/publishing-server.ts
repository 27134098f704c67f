import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PublishedEndpoint {
  id: string;
  openapi: unknown;
  metadata?: Record<string, string>;
  price?: { unit_price: number; unit: string; currency?: string };
}

interface Failure {
  status: number;
  times: number;
  headers?: Record<string, string>;
}

const usage = { prompt_tokens: 5, completion_tokens: 2 };

/** A server of the test that speaks fal's platform API, Replicate's API and an OpenAI-compatible one. */
export class PublishingServer {
  readonly endpoints: PublishedEndpoint[] = [];
  /** Replies of Replicate by owner/name. */
  readonly models = new Map<string, unknown>();
  /** Entries of `GET /openai/models`. */
  served: (object | null)[] = [];
  /** Paths and queries of all requests. */
  readonly requests: string[] = [];
  readonly keys = new Set<string | undefined>();
  pageSize = 50;
  failure: Failure | undefined;
  /** Called before each reply. */
  onRequest: (() => void) | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<PublishingServer> {
    const server = createServer();
    const published = new PublishingServer(server);
    server.on('request', (request, response) => published.answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return published;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url);
    this.requests.push(`${url.pathname}${url.search}`);
    this.keys.add(request.headers.authorization);
    this.onRequest?.();
    if (this.failure && this.failure.times > 0) {
      this.failure.times -= 1;
      response.writeHead(this.failure.status, this.failure.headers).end('{}');
      return;
    }
    const reply = this.replyTo(url);
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply ?? { detail: 'Not found' }));
  }

  private replyTo({ pathname, searchParams }: URL): unknown {
    const ids = searchParams.getAll('endpoint_id');
    if (ids.length > 50) return undefined;
    if (pathname === '/fal/models/pricing') {
      const prices = this.endpoints.flatMap(({ id, price }) =>
        price && ids.includes(id) ? [{ endpoint_id: id, currency: 'USD', ...price }] : [],
      );
      return { prices, next_cursor: null, has_more: false };
    }
    if (pathname === '/fal/models') return this.page(searchParams, ids);
    if (pathname === '/openai/chat/completions')
      return { choices: [{ message: { content: 'Three.' } }], usage };
    if (pathname === '/openai/embeddings') return { data: [{ embedding: [0.5] }], usage };
    if (pathname === '/openai/models') return { object: 'list', data: this.served };
    return this.models.get(pathname.replace('/replicate/models/', ''));
  }

  private page(query: URLSearchParams, ids: readonly string[]): unknown {
    const [status, category] = [query.get('status'), query.get('category')];
    const chosen = this.endpoints.filter(
      ({ id, metadata = {} }) =>
        (ids.length === 0 || ids.includes(id)) &&
        (status === null || (metadata['status'] ?? 'active') === status) &&
        (category === null || metadata['category'] === category),
    );
    if (ids.some((id) => !this.endpoints.some((each) => each.id === id))) return undefined;
    const from = Number(query.get('cursor') ?? 0);
    const next = from + this.pageSize;
    return {
      models: chosen.slice(from, next).map(({ id, openapi, metadata }) => ({
        endpoint_id: id,
        metadata: { status: 'active', ...metadata },
        ...(query.get('expand') === 'openapi-3.0' && { openapi }),
      })),
      next_cursor: next < chosen.length ? String(next) : null,
      has_more: next < chosen.length,
    };
  }
}

const json = (schema: string) => ({ content: { 'application/json': { schema: { $ref: schema } } } });

/** A constructed document in the form of fal's: an input with `properties`, and a list of images. */
export const falDocument = (
  id: string,
  properties: Record<string, unknown>,
  required = ['prompt'],
): object => ({
  openapi: '3.0.4',
  info: { title: id, version: '1.0.0' },
  paths: {
    [`/${id}`]: { post: { requestBody: json('#/components/schemas/PaintInput'), responses: {} } },
    [`/${id}/requests/{request_id}`]: {
      get: { responses: { 200: { description: 'Result.', ...json('#/components/schemas/PaintOutput') } } },
    },
  },
  components: {
    schemas: {
      PaintInput: {
        type: 'object',
        required,
        properties: { prompt: { type: 'string', description: 'What to paint.' }, ...properties },
      },
      PaintOutput: {
        type: 'object',
        required: ['images'],
        properties: { images: { type: 'array', items: { $ref: '#/components/schemas/Picture' } } },
      },
      Picture: {
        type: 'object',
        required: ['url'],
        properties: { url: { type: 'string' }, content_type: { type: 'string' } },
      },
    },
  },
});

/** A constructed document in the form of Replicate's. */
export const replicateDocument = (output: object): object => ({
  openapi: '3.0.2',
  info: { title: 'Cog', version: '0.1.0' },
  paths: {},
  components: {
    schemas: {
      Input: {
        type: 'object',
        title: 'Input',
        properties: {
          prompt: { type: 'string', 'x-order': 0 },
          width: { type: 'integer', default: 512, minimum: 64 },
        },
        required: ['prompt'],
      },
      Output: output,
    },
  },
});

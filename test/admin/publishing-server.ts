import { json, type ReceivedCall, type Reply, ScriptedServer } from '../harness/index.js';

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
export class PublishingServer extends ScriptedServer {
  readonly endpoints: PublishedEndpoint[] = [];
  /** Replies of Replicate by owner/name. */
  readonly models = new Map<string, unknown>();
  /** Entries of `GET /openai/models`. */
  served: (object | null)[] = [];
  pageSize = 50;
  failure: Failure | undefined;

  /** The credentials of all calls. */
  get keys(): Set<string | undefined> {
    return new Set(this.calls.map(({ headers }) => headers['authorization']));
  }

  protected override replyTo({ url }: ReceivedCall): Reply {
    if (this.failure && this.failure.times > 0) {
      this.failure.times -= 1;
      return json({}, this.failure.status, this.failure.headers);
    }
    const published = this.published(url);
    return published === undefined ? json({ detail: 'Not found' }, 404) : json(published);
  }

  private published({ pathname, searchParams }: URL): unknown {
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
    if (pathname === '/openai/images/generations') return { data: [{ b64_json: 'iVBORw0KGgo=' }] };
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

const typed = (schema: string) => ({ content: { 'application/json': { schema: { $ref: schema } } } });

/** A constructed document in the form of fal's: an input with `properties`, and a list of images. */
export const falDocument = (
  id: string,
  properties: Record<string, unknown>,
  required = ['prompt'],
): object => ({
  openapi: '3.0.4',
  info: { title: id, version: '1.0.0' },
  paths: {
    [`/${id}`]: { post: { requestBody: typed('#/components/schemas/PaintInput'), responses: {} } },
    [`/${id}/requests/{request_id}`]: {
      get: { responses: { 200: { description: 'Result.', ...typed('#/components/schemas/PaintOutput') } } },
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

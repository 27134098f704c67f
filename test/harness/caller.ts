import { bucketNames, type Bucket } from '#errors';
import { waitFor } from './wait-for.js';

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  /** The parsed body; throws if it is not JSON. */
  json(): Record<string, unknown>;
  bucket: Bucket | undefined;
}

export interface Submitted {
  requestId: string;
  model: string;
  body: string;
}

/** An application that calls the router. Every answer is checked against the header rules. */
export class Caller {
  constructor(
    private readonly baseUrls: () => string[],
    readonly key: string,
  ) {}

  /** The ids of all listed models, from all pages. */
  async listed(gateway?: number): Promise<string[]> {
    const ids: string[] = [];
    for (let after: string | undefined = ''; after !== undefined;) {
      const page = await this.call('GET', `/v2/models?limit=100${after}`, { gateway });
      const { data, next_cursor } = page.json() as { data: { id: string }[]; next_cursor?: string };
      ids.push(...data.map(({ id }) => id));
      after = next_cursor && `&cursor=${encodeURIComponent(next_cursor)}`;
    }
    return ids;
  }

  async call(
    method: string,
    path: string,
    options: {
      body?: string | Uint8Array;
      headers?: Record<string, string>;
      gateway?: number;
      withinMs?: number;
    } = {},
  ): Promise<Answer> {
    const bases = this.baseUrls();
    const base = bases[options.gateway ?? Math.floor(Math.random() * bases.length)];
    const response = await fetch(path.startsWith('http') ? path : `${base}${path}`, {
      method,
      headers: {
        'x-api-key': this.key,
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: options.body,
      redirect: 'manual',
      signal: AbortSignal.timeout(options.withinMs ?? 30_000),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      bytes,
      json: () => JSON.parse(bytes.toString()) as Record<string, unknown>,
      bucket: (response.headers.get('x-service-error-type') ?? undefined) as Bucket | undefined,
    };
    holdToHeaderRules(`${method} ${path}`, answer);
    return answer;
  }

  /** Submits and expects a handle. */
  async submit(
    model: string,
    body: string,
    { query = '', ...options }: { headers?: Record<string, string>; gateway?: number; query?: string } = {},
  ): Promise<Submitted> {
    const answer = await this.call('POST', `/v2/models/${model}/requests${query}`, { body, ...options });
    if (answer.status !== 201)
      throw new Error(`submit answered ${answer.status}: ${answer.bytes.toString()}`);
    return { requestId: String(answer.json()['request_id']), model, body };
  }

  status(run: Submitted): Promise<Answer> {
    return this.call('GET', `/v2/models/${run.model}/requests/${run.requestId}/status`);
  }

  collect(run: Submitted): Promise<Answer> {
    return this.call('GET', `/v2/models/${run.model}/requests/${run.requestId}`);
  }

  cancel(run: Submitted): Promise<Answer> {
    return this.call('PUT', `/v2/models/${run.model}/requests/${run.requestId}/cancel`);
  }

  /** Polls until `COMPLETED`, and returns the last status body. */
  async completed(run: Submitted, withinMs = 30_000): Promise<Record<string, unknown>> {
    return waitFor(
      async () => {
        const body = (await this.status(run)).json();
        return body['status'] === 'COMPLETED' && body;
      },
      { withinMs, what: `run ${run.requestId} to complete`, everyMs: 100 },
    );
  }
}

/**
 * Every answer carries a request id. Every error names one of the fifteen buckets, in the header and in the body
 * if it has one.
 */
function holdToHeaderRules(what: string, answer: Answer): void {
  if (!/^[0-9a-f-]{36}$/.test(answer.headers.get('x-service-request-id') ?? '')) {
    throw new Error(`${what} answered ${answer.status} without X-Service-Request-Id`);
  }
  if (answer.status < 400) {
    if (answer.bucket !== undefined) throw new Error(`${what} answered ${answer.status} with an error type`);
    return;
  }
  if (answer.bucket === undefined || !bucketNames.includes(answer.bucket)) {
    throw new Error(`${what} answered ${answer.status} with error type ${answer.bucket}`);
  }
  const named = answer.json()['error_type'];
  const mayOmit =
    answer.status === 422 || (answer.status === 400 && answer.json()['status'] === 'ALREADY_COMPLETED');
  if (named !== answer.bucket && !(named === undefined && mayOmit)) {
    throw new Error(`${what}: header says ${answer.bucket}, body ${String(named)}`);
  }
}

import { chunksOf } from './time-limit.js';
import {
  type HeadersLike,
  notRaw,
  verifyWebhook,
  type WebhookEvent,
  WebhookVerificationError,
} from './webhook.js';

/** The secret, both of them during a rotation, or a function that returns them, which is called for each request. */
export type WebhookSecret =
  string | readonly string[] | (() => string | readonly string[] | Promise<string | readonly string[]>);

/** Called with each verified event. The router sends the event again unless this resolves within ten seconds. */
type OnEvent = (event: WebhookEvent) => unknown;

/** Larger than any call of the router, which sends at most 4 MiB of output. */
const maxBodyBytes = 8 * 1024 * 1024;

/** The parts of a request of Node, Express, Nest or Fastify that a handler reads. */
interface NodeRequest {
  headers: HeadersLike;
  /** Nest and Fastify keep the bytes here if they are told to. */
  rawBody?: unknown;
  /** Whatever a body parser has put here. */
  body?: unknown;
  [Symbol.asyncIterator]?: () => AsyncIterator<unknown>;
  readableEnded?: boolean;
}

/** The response of Node, Express and Nest, or the reply of Fastify. */
type NodeResponse =
  | { statusCode: number; end: (text?: string) => unknown }
  | { code: (status: number) => { send: (text?: string) => unknown } };

/**
 * Handles webhooks wherever a handler takes a web `Request` and returns a `Response`: a route of Next, Hono, Bun, Deno or
 * a worker. Answers 204, or 400 if the request is not from the router. An error of `onEvent` is thrown.
 */
export const webhookHandler =
  (secret: WebhookSecret, onEvent: OnEvent) =>
  async (request: Request): Promise<Response> => {
    if (request.bodyUsed) throw new TypeError(notRaw);
    const body = await read(chunksOf(request.body, request.signal));
    const { status, text } = await handled(body, request.headers, secret, onEvent);
    return new Response(text, { status });
  };

/**
 * Handles webhooks in Express, in Nest and in Node's own server. Takes the raw body from where the framework keeps it,
 * or reads it. Errors, such as those of `onEvent`, are passed to `next`, or thrown if there is none.
 */
export const nodeWebhookHandler =
  (secret: WebhookSecret, onEvent: OnEvent) =>
  async (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void): Promise<void> => {
    try {
      const { status, text } = await handled(await rawBodyOf(request), request.headers, secret, onEvent);
      if ('code' in response) return void response.code(status).send(text);
      response.statusCode = status;
      response.end(text);
    } catch (error) {
      if (next === undefined) throw error;
      next(error);
    }
  };

/** The raw body, or undefined if it is too large. */
type Body = string | Uint8Array | undefined;

/** Verifies and passes on one request; the adapters above only find its body and send the answer. */
async function handled(
  body: Body,
  headers: HeadersLike,
  secret: WebhookSecret,
  onEvent: OnEvent,
): Promise<{ status: number; text?: string }> {
  if (body === undefined) return { status: 413, text: 'The body is too large.' };
  const secrets = typeof secret === 'function' ? await secret() : secret;
  let event: WebhookEvent;
  try {
    event = await verifyWebhook(body, headers, secrets);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { status: 400, text: error.message };
    throw error;
  }
  await onEvent(event);
  return { status: 204 };
}

async function rawBodyOf(request: NodeRequest): Promise<Body> {
  for (const body of [request.rawBody, request.body])
    if (typeof body === 'string' || body instanceof Uint8Array) return body;
  // A parser that found nothing to parse leaves no body, or an empty object, and has not read the stream.
  const stream = request[Symbol.asyncIterator];
  if (stream === undefined || request.readableEnded) throw new TypeError(notRaw);
  return read({ [Symbol.asyncIterator]: () => stream.call(request) } as AsyncIterable<
    Uint8Array<ArrayBuffer>
  >);
}

async function read(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Body> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return undefined;
    parts.push(chunk);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

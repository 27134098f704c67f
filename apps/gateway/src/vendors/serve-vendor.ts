import { type FieldError, InputRejection, type RouterError } from '#errors';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  onRequestHookHandler,
} from 'fastify';
import type { ErrorForm } from '../answers/error-answer.js';
import { unknownPath } from '../answers/error.filter.js';
import { exposeToPages } from '../http/cors.js';
import { retryAfter } from '../http/replies.js';
import type { Vendor, VendorRoute } from './vendor.js';

/** A path below the base of a vendor, and what answers its calls. */
export interface VendorPath {
  method: HTTPMethods;
  path: string;
  errorEvent?: VendorRoute['errorEvent'];
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
}

/** Adds the paths of a vendor. Every other path below its base answers 404 in the vendor's format. */
export function serveVendor(server: FastifyInstance, vendor: Vendor, paths: readonly VendorPath[]): void {
  const { base } = vendor;
  const common = (errorEvent?: VendorRoute['errorEvent']) => ({
    config: { errorForm: errorFormOf(vendor, errorEvent), openToPages: true },
    onRequest: beginCall(vendor),
  });
  for (const { method, path, errorEvent, answer } of paths)
    server.route({ ...common(errorEvent), method, url: `${base}${routePath(path)}`, handler: answer });
  for (const path of ['', '/*'])
    server.all(`${base}${path}`, common(), () => {
      throw unknownPath();
    });
}

/** The path in the syntax of the framework, in which a parameter would include the colon of a method. */
const routePath = (path: string): string =>
  path.replaceAll(':', '::').replaceAll(/\{(\w+)\}/g, ':$1(^[^:]+)');

/** Headers that the vendor's clients send and expect. */
function beginCall({ key, requestIdHeader }: Vendor): onRequestHookHandler {
  return (request, reply, done) => {
    exposeToPages(reply, 'X-Should-Retry');
    if (requestIdHeader !== undefined) {
      reply.header(requestIdHeader, request.id);
      exposeToPages(reply, requestIdHeader);
    }
    const given = key && givenKey(request, key);
    if (given !== undefined) request.headers['x-api-key'] ??= given;
    done();
  };
}

function givenKey(request: FastifyRequest, key: NonNullable<Vendor['key']>): string | undefined {
  if ('scheme' in key) {
    const [scheme = '', text] = request.headers.authorization?.split(/ +/) ?? [];
    return scheme.toLowerCase() === key.scheme ? text : undefined;
  }
  const inQuery = takenFromQuery(request, key.query);
  return request.headers[key.header]?.toString() ?? inQuery;
}

/** Removes a credential from the URL of the request, so that no record contains it, and returns it. */
function takenFromQuery({ raw }: FastifyRequest, name: string): string | undefined {
  const [path = '', ...query] = (raw.url ?? '').split('?');
  const parameters = new URLSearchParams(query.join('?'));
  const given = parameters.get(name);
  if (given === null) return undefined;
  parameters.delete(name);
  const url = parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
  Object.assign(raw, { url, originalUrl: url });
  return given;
}

function errorFormOf(
  { errorBody, errorType, ownError }: Vendor,
  errorEvent: VendorRoute['errorEvent'],
): ErrorForm {
  return (error, { requestId, runId }) => {
    const { bucket, reply } = error;
    const fields =
      error instanceof InputRejection
        ? error.fields.map((field) => ({ name: nameOf(field), problem: field.msg, type: field.type }))
        : [];
    const own = ownError?.(reply?.body);
    // A provider that does not accept calls has no words of its own, because they may concern our account.
    const status = reply && (own || reply.body === undefined) ? reply.status : error.status;
    const failure = { status, bucket, message: messageOf(error), fields, requestId, own };
    const headers = {
      ...(errorType !== undefined && { 'content-type': errorType }),
      ...(reply?.afterMs !== undefined && {
        'retry-after': retryAfter(reply.afterMs),
      }),
      ...(!mayRepeat(error, runId) && { 'x-should-retry': 'false' }),
    };
    return { status, headers, body: errorBody(failure), event: errorEvent?.(failure) };
  };
}

const repeatable: readonly number[] = [429, 503];

/**
 * Whether clients may repeat the call by themselves: only if it began no run, because a second one would be billed too,
 * or if its provider did not accept the run.
 */
const mayRepeat = ({ status, bucket }: RouterError, runId: string | undefined): boolean =>
  bucket === 'service_unavailable' || (runId === undefined && repeatable.includes(status));

const maxFields = 10;

/** The text of an error. These formats have no list of fields, so the text names the first ones. */
function messageOf(error: RouterError): string {
  if (!(error instanceof InputRejection)) return error.publicDetail;
  const fields = error.fields.slice(0, maxFields).map((field) => `${nameOf(field)}: ${field.msg}`);
  return `${error.publicDetail} ${fields.join('; ')}.`;
}

/** The path of a field without its first segment, which says that the field is in the body. */
const nameOf = ({ loc: [root = 'body', ...path] }: FieldError): string => path.join('.') || String(root);

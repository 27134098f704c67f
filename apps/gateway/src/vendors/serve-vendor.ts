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
import type { VendorCalls } from './vendor-calls.js';
import type { Vendor } from './vendor.js';

/** Adds the routes of a vendor. Every other path below its base answers 404 in the vendor's format. */
export function serveVendor(server: FastifyInstance, vendor: Vendor, calls: VendorCalls): void {
  const { base, routes } = vendor;
  const common = {
    config: { errorForm: errorFormOf(vendor), openToPages: true },
    onRequest: beginCall(vendor),
  };
  const add = (
    method: HTTPMethods,
    path: string,
    handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ) => server.route({ ...common, method, url: `${base}${routePath(path)}`, handler });

  add('GET', '/models', (request) => calls.list(vendor, request));
  add('GET', '/models/{model}', (request) => calls.entry(vendor, request));
  for (const route of routes)
    add('POST', route.path, (request, reply) => calls.run(vendor, route, request, reply));
  for (const path of ['', '/*'])
    server.all(`${base}${path}`, common, () => {
      throw unknownPath();
    });
}

/** The path in the syntax of the framework, in which a parameter would include the colon of a method. */
const routePath = (path: string): string => path.replaceAll(':', '::').replace('{model}', ':model(^[^:]+)');

/** Headers that the vendor's clients send and expect. */
function beginCall({ key, requestIdHeader }: Vendor): onRequestHookHandler {
  return (request, reply, done) => {
    exposeToPages(reply, 'X-Should-Retry');
    if (requestIdHeader !== undefined) {
      reply.header(requestIdHeader, request.id);
      exposeToPages(reply, requestIdHeader);
    }
    if (key !== undefined) {
      const inQuery = takenFromQuery(request, key.query);
      const given = request.headers[key.header] ?? inQuery;
      if (given !== undefined) request.headers['x-api-key'] ??= String(given);
    }
    done();
  };
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

function errorFormOf({ errorBody }: Vendor): ErrorForm {
  return (error, { requestId, runId }) => {
    const { status, bucket } = error;
    const fields = error instanceof InputRejection ? error.fields.map(nameOf) : [];
    const body = errorBody({ status, bucket, message: messageOf(error), fields, requestId });
    return { headers: mayRepeat(error, runId) ? none : doNotRepeat, body };
  };
}

const none: Record<string, string> = {};
const doNotRepeat: Record<string, string> = { 'x-should-retry': 'false' };
const repeatable: readonly number[] = [429, 503];

/**
 * Whether clients may repeat the call by themselves: only if it began no run, because a second one would be billed too.
 */
const mayRepeat = ({ status }: RouterError, runId: string | undefined): boolean =>
  runId === undefined && repeatable.includes(status);

const maxFields = 10;

/** The text of an error. These formats have no list of fields, so the text names the first ones. */
function messageOf(error: RouterError): string {
  if (!(error instanceof InputRejection)) return error.publicDetail;
  const fields = error.fields.slice(0, maxFields).map((field) => `${nameOf(field)}: ${field.msg}`);
  return `${error.publicDetail} ${fields.join('; ')}.`;
}

/** The path of a field without its first segment, which says that the field is in the body. */
const nameOf = ({ loc: [root = 'body', ...path] }: FieldError): string => path.join('.') || String(root);

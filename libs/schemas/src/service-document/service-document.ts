import { headers } from './headers.js';
import { parameters } from './parameters.js';
import { type Answer, areas, type Credentials, type Route } from './route.js';
import { routes } from './routes.js';
import { componentSchemas, type ShapeName, shapeReference } from './shapes.js';

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key. It comes before a Bearer credential that is sent beside it.',
  },
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token.' },
  bearerKey: { type: 'http', scheme: 'bearer', description: 'An API key, sent as a Bearer credential.' },
} as const;

const security: Record<Credentials, Partial<Record<keyof typeof securitySchemes, []>>[]> = {
  access_token: [{ accessToken: [] }],
  key_or_token: [{ apiKey: [] }, { accessToken: [] }, { bearerKey: [] }],
  none: [],
};

export const introduction =
  'One interface in front of many partner models. A model is addressed as `{provider}/{model}`; the request body is the partner’s own JSON input, the result its own output, byte for byte. Paths under `/v1` and `/v2` answer failures with one of fifteen buckets, in the header `X-Service-Error-Type` and in `error_type`; treat one that you do not know as `internal_error`. Everywhere else a failure is `{"error", "message"}`. Unknown paths and methods answer 404. Unknown query parameters and headers are tolerated.';

/** The whole service as an OpenAPI 3.1 document. `baseUrl` is absolute; without it paths are relative to where it was read. */
export function serviceDocument(baseUrl: string | undefined) {
  return {
    openapi: '3.1.0',
    info: { title: 'Model Router', version: '1.0', description: introduction },
    servers: [{ url: baseUrl ?? '/' }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: {
      schemas: componentSchemas(),
      parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, each]) => [name, { ...each, required: each.in === 'path' }]),
      ),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, { always, ...each }]) => [name, { ...each, required: always }]),
      ),
      securitySchemes,
    },
  };
}

function paths() {
  const byPath: Record<string, Record<string, ReturnType<typeof operation>>> = {};
  for (const route of routes) (byPath[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  return byPath;
}

function operation(route: Route) {
  return {
    operationId: route.name,
    tags: [route.area],
    summary: route.summary,
    ...(route.description !== '' && { description: route.description }),
    security: security[route.credentials],
    ...(route.parameters.length > 0 && {
      parameters: route.parameters.map((name) => reference('parameters', name)),
    }),
    ...(route.input !== null && {
      requestBody: { required: true, content: { 'application/json': media(route.input) } },
    }),
    responses: Object.fromEntries(route.answers.map((answer) => [answer.status, response(answer)])),
  };
}

function response({ description, headers, content, buckets }: Answer) {
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, reference('headers', name)])),
    ...(Object.keys(content).length > 0 && {
      content: Object.fromEntries(Object.entries(content).map(([type, shape]) => [type, media(shape)])),
    }),
    ...(buckets.length > 0 && { 'x-service-error-types': buckets }),
  };
}

const media = (shape: ShapeName | null) =>
  shape === null ? {} : { schema: { $ref: shapeReference(shape) } };

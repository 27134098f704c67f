import { routerFileId, routerModelSegment, routerProviderSegment, routerQueueRequestId } from '#schemas';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, Reflector } from '@nestjs/core';
import { z } from 'zod';
import { RequiredScope } from '../auth/caller.guard.js';
import {
  type Answer,
  ApiExcludeController,
  ApiRoute,
  areas,
  ofJsonBody,
  ofRouter,
  outsideRouter,
} from '../http/api-route.js';
import { responseHeaders } from '../http/response-headers.js';

const introduction =
  'One interface for the models of many providers. Address a model as `{provider}/{model}`. The request body is the model’s own JSON input, and the result is its own output, byte for byte. Failures under `/v1` and `/v2` have one of fifteen buckets, in the header `X-Service-Error-Type` and in `error_type`; treat a bucket that you do not know as `internal_error`. Everywhere else a failure is `{"error", "message"}`. Unknown paths and methods return 404. Unknown query parameters and headers are ignored.';

const securitySchemes = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API key. It takes precedence over a Bearer credential.',
  },
  accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'An access token.' },
  bearerKey: { type: 'http', scheme: 'bearer', description: 'An API key, sent as a Bearer credential.' },
};

const pathParameters: Record<string, z.ZodType> = {
  provider: routerProviderSegment,
  model: routerModelSegment,
  request_id: routerQueueRequestId,
  file_id: routerFileId,
  key_id: z.uuid().meta({ description: 'The id of an API key.' }),
  workspace: z.string().meta({ description: 'The id or name of a workspace.' }),
  name: z.string().meta({ description: 'The name of the file.' }),
  digest: z.string().meta({ description: 'The first half of the SHA-256 of the file, in hex.' }),
  token: z.string().meta({ description: 'The token of the link of a shared run.' }),
  key: z.string().meta({ description: 'The key of the asset; it contains slashes.' }),
};

/**
 * The whole service as an OpenAPI 3.1 document, made from the declarations of its controllers. `baseUrl` is absolute.
 */
export function serviceDocument(controllers: readonly Type[], baseUrl: string | undefined) {
  return {
    openapi: '3.1.0',
    info: { title: 'Model Router', version: '1.0', description: introduction },
    servers: [{ url: baseUrl ?? '/' }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths: pathsOf(controllers),
    components: {
      schemas: namedSchemas(),
      headers: Object.fromEntries(
        Object.entries(responseHeaders).map(([name, shape]) => [name, header(shape)]),
      ),
      securitySchemes,
    },
  };
}

export type ServiceDocument = ReturnType<typeof serviceDocument>;

/** Injects the `ServiceDocument` of the routes that this gateway serves. */
export const SERVICE_DOCUMENT = Symbol('service document');

type Operation = ReturnType<typeof operation>;

/** Throws for a route without `@ApiRoute`. */
function pathsOf(controllers: readonly Type[]): Record<string, Record<string, Operation>> {
  const reflector = new Reflector();
  const handlers = controllers
    .filter((controller) => !reflector.get(ApiExcludeController, controller))
    .flatMap((controller) =>
      new MetadataScanner()
        .getAllMethodNames(controller.prototype)
        .map((name) => ({ controller, handler: controller.prototype[name] })),
    );
  const names = new Set(handlers.map(({ handler }) => reflector.get(ApiRoute, handler)?.name));
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { controller, handler } of handlers) {
    const method: RequestMethod | undefined = Reflect.getMetadata(METHOD_METADATA, handler);
    if (method === undefined) continue;
    for (const path of pathsTo(controller, handler))
      (paths[path] ??= {})[RequestMethod[method].toLowerCase()] = operation(handler, path, names);
  }
  return paths;
}

const declaredPaths = (target: object): string[] => [Reflect.getMetadata(PATH_METADATA, target)].flat();

/** The paths of a handler, in OpenAPI syntax. */
function pathsTo(controller: Type, handler: object): string[] {
  return declaredPaths(controller).flatMap((start) =>
    declaredPaths(handler).map((end) =>
      `/${[start, end].filter((part) => part !== '/').join('/')}`
        .replaceAll(
          /:(\w+)/g,
          (_, name: string) => `{${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}}`,
        )
        .replace('*', '{key}'),
    ),
  );
}

/** `names` are those of all operations; links to any other are left out. */
function operation(
  handler: (...args: never[]) => unknown,
  path: string,
  names: ReadonlySet<string | undefined>,
) {
  const reflector = new Reflector();
  const route = reflector.get(ApiRoute, handler);
  if (!route) throw new Error(`${handler.name} of ${path} has no @ApiRoute`);
  const [generation = ''] = /(?<=^\/)v[12](?=\/)/.exec(path) ?? [];
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const shape = pathParameters[name];
    if (!shape) throw new Error(`The parameter ${name} of ${path} has no shape`);
    return [name, shape] as const;
  });
  const parameters = [
    ...inPath.map(([name, shape]) => parameter('path', name, shape)),
    ...Object.entries(route.query?.shape ?? {}).map(([name, shape]) => parameter('query', name, shape)),
    ...Object.entries(route.headers?.shape ?? {}).map(([name, shape]) => parameter('header', name, shape)),
  ];
  const answers = [
    ...(generation === '' ? outsideRouter : ofRouter),
    ...(route.body && route.body !== 'bytes' ? ofJsonBody : []),
    ...route.answers,
  ];
  return {
    operationId: `${generation}${route.name}`,
    tags: [route.area],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: reflector.get(RequiredScope, handler) ? credentials(generation) : [],
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: { required: true, content: requestContent(route.body) } }),
    responses: Object.fromEntries(
      answers.map((answer) => [answer.status, response(answer, generation, names)]),
    ),
  };
}

const requestContent = (body: z.ZodType | 'bytes') =>
  body === 'bytes' ? { '*/*': media(null) } : { 'application/json': media(body) };

const credentials = (generation: string) =>
  generation === 'v1' ? [{ accessToken: [] }] : [{ apiKey: [] }, { accessToken: [] }, { bearerKey: [] }];

const parameter = (place: 'path' | 'query' | 'header', name: string, shape: z.core.$ZodType) => ({
  name,
  in: place,
  required: place === 'path',
  ...described(shape),
});

function response(
  { description, headers, content, links, buckets }: Answer,
  generation: string,
  names: ReadonlySet<string | undefined>,
) {
  const followers = Object.entries(links).filter(([name]) => names.has(name));
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(Object.keys(content).length > 0 && {
      content: Object.fromEntries(Object.entries(content).map(([type, shape]) => [type, media(shape)])),
    }),
    ...(followers.length > 0 && {
      links: Object.fromEntries(
        followers.map(([name, parameters]) => [name, { operationId: `${generation}${name}`, parameters }]),
      ),
    }),
    ...(buckets.length > 0 && { 'x-service-error-types': buckets }),
  };
}

const media = (shape: z.ZodType | null) => (shape === null ? {} : { schema: described(shape).schema });

const header = (shape: z.ZodType) => ({
  required: !shape.safeParse(undefined).success,
  ...described(shape),
});

/** A named schema becomes a reference, even within other schemas. */
function described(shape: z.core.$ZodType) {
  const { id, description } = z.globalRegistry.get(shape) ?? {};
  if (id !== undefined) return { description, schema: { $ref: `#/components/schemas/${id}` } };
  const text = JSON.stringify(z.toJSONSchema(shape, schemaOptions));
  const {
    $schema: _dialect,
    $defs: _named,
    description: ownDescription,
    ...schema
  }: z.core.JSONSchema.JSONSchema = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/'));
  return { description: ownDescription, schema };
}

/**
 * Schemas are written for callers: an answer may gain fields, so objects stay open. Limits of the number format,
 * `propertyNames`, and patterns of numbers sent as text carry no information and are left out.
 */
const schemaOptions = {
  io: 'input',
  override: ({ jsonSchema }) => {
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
    delete jsonSchema.propertyNames;
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    const { example } = jsonSchema;
    if (example === undefined) return;
    delete jsonSchema['example'];
    jsonSchema.examples = [example];
  },
} as const satisfies z.core.ToJSONSchemaParams;

/** All named schemas; nested ones are references. */
function namedSchemas() {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    ...schemaOptions,
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _uri, id: _name, ...schema }]) => [
      name,
      schema,
    ]),
  );
}

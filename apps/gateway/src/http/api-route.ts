import type { Bucket } from '#errors';
import { registryErrorResponse, routerErrorResponse } from '#schemas';
import { Reflector } from '@nestjs/core';
import type { z } from 'zod';
import type { HeaderName } from './response-headers.js';

/** Groups of routes, in the order of the API reference. */
export const areas = {
  Catalog: 'The models that you can run, and what each one takes.',
  'Synchronous runs': 'The connection stays open until the result is ready.',
  'Queued runs': 'The run is admitted immediately. Poll its state, then collect its result.',
  Files: 'Uploaded files, for use in inputs by their URL.',
  Account: 'The runs, costs, limits and keys of the workspace. Each requires its own scope.',
  Operator:
    'All workspaces, providers and queues. The scope `operate` is granted by the admin command line, or by a group of the identity provider.',
  Clients: 'Packages of the clients, for `npm install` and `pip install`.',
  Agents: 'The same runs as tools of the Model Context Protocol.',
  Registry: 'The published nodes. No credential is needed.',
  Service: 'This reference and the health probes. No credential is needed.',
} as const satisfies Record<string, string>;

export interface Answer {
  status: number;
  description: string;
  /** Schemas by media type; null for bytes without a schema. Empty for an answer without a body. */
  content: Readonly<Record<string, z.ZodType | null>>;
  headers: readonly HeaderName[];
  /** Names of the operations that follow this answer, with the source of each of their parameters. */
  links: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The buckets that a failure with this status can have. */
  buckets: readonly Bucket[];
}

interface RouteDescription {
  /** Names the operation in generated clients; routes of `/v1` and `/v2` get the generation as a prefix. */
  name: string;
  area: keyof typeof areas;
  summary: string;
  description?: string;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** The schema of the JSON body, or `bytes` for any media type. */
  body?: z.ZodType | 'bytes';
  /**
   * Added to the answers that every route of its kind has. An answer with the same status replaces the common one.
   */
  answers: readonly Answer[];
}

/** Describes a route for the service document, apart from its method, its path and the scope that it requires. */
export const ApiRoute = Reflector.createDecorator<RouteDescription>();

/** Leaves a controller out of the service document. */
export const ApiExcludeController = Reflector.createDecorator<true>();

/** An answer without a bucket: a success, or a failure outside `/v1` and `/v2`. */
export const answer = (
  status: number,
  description: string,
  content: Answer['content'] = {},
  headers: readonly HeaderName[] = [],
  links: Answer['links'] = {},
): Answer => ({
  status,
  description,
  content,
  headers: ['X-Service-Request-Id', ...headers],
  links,
  buckets: [],
});

export const json = (shape: z.ZodType): Answer['content'] => ({ 'application/json': shape });

export const registryFailure = (status: number, description: string, headers?: HeaderName[]): Answer =>
  answer(status, description, json(registryErrorResponse), headers);

/** A failure under `/v1` or `/v2`, with the buckets that it can have. */
export const failure = (
  status: number,
  buckets: readonly Bucket[],
  description: string,
  { headers = [], shape = routerErrorResponse }: { headers?: HeaderName[]; shape?: z.ZodType } = {},
): Answer => ({
  ...answer(status, description, json(shape), ['X-Service-Error-Type', ...headers]),
  buckets,
});

export const modelNotFound = failure(
  404,
  ['model_not_found'],
  'There is no model with this id that the caller may see; `detail` suggests up to three ids.',
);

/** Answers of every route outside `/v1` and `/v2`. */
export const outsideRouter = [registryFailure(500, 'The service failed.')];

/** Answers of every route under `/v1` and `/v2`. */
export const ofRouter = [
  failure(401, ['unauthorized'], 'The request carries no usable credential.'),
  failure(
    403,
    ['forbidden', 'not_enabled'],
    'The credential lacks permission, or the router is not enabled for its workspace.',
  ),
  failure(500, ['internal_error'], 'The router itself failed.'),
  failure(503, ['service_unavailable'], 'A dependency is unavailable; retry with backoff.'),
];

/** Answers of every route that takes JSON. */
export const ofJsonBody = [
  failure(413, ['invalid_input'], 'The body is too large.'),
  failure(415, ['invalid_input'], 'The body is not sent as `application/json`.'),
];

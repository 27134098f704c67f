import type { Bucket } from '#errors';
import { registryErrorResponse, routerErrorResponse } from '#schemas';
import { Reflector } from '@nestjs/core';
import type { z } from 'zod';
import type { HeaderName } from './response-headers.js';

/** What the routes are grouped by, in the order of the reference. */
export const areas = {
  Catalog: 'What can be run, and what each model takes.',
  'Synchronous runs': 'The connection is held until the result is there.',
  'Queued runs': 'The run is admitted at once; its state is polled, its result collected.',
  Files: 'Files to be named in inputs by their URL.',
  Account:
    'The runs of the workspace, what they cost, its limits and its keys; each behind a scope of its own.',
  Operator:
    'All workspaces, providers and queues. The scope `operate` is given by the operator’s command line, or by a group of the identity provider.',
  Agents: 'The same runs as tools of the Model Context Protocol.',
  Registry: 'The published nodes. No credential is needed.',
  Service: 'This reference and the probes. No credential is needed.',
} as const satisfies Record<string, string>;

export interface Answer {
  status: number;
  description: string;
  /** Media types with their shapes; null for bytes that have none. Empty for an answer without a body. */
  content: Readonly<Record<string, z.ZodType | null>>;
  headers: readonly HeaderName[];
  /** Names of operations that take this answer up, with where each of their parameters comes from. */
  links: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The buckets that a failure of this status can name. */
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
  /** The shape of the JSON, or `bytes` of any media type. */
  body?: z.ZodType | 'bytes';
  /** Beside those that every route of its kind has, which an answer with the same status replaces. */
  answers: readonly Answer[];
}

/** What the service document says about a route beside its method, its path and the scope that it requires. */
export const ApiRoute = Reflector.createDecorator<RouteDescription>();

/** Leaves a controller out of the service document. */
export const ApiExcludeController = Reflector.createDecorator<true>();

/** An answer that names no bucket: a success, or a failure outside `/v1` and `/v2`. */
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

/** A failure of the router: which buckets the status can name, and when. */
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
  'No model of this id is visible to the caller; `detail` suggests up to three.',
);

/** Of every route outside `/v1` and `/v2`. */
export const outsideRouter = [registryFailure(500, 'The service failed.')];

/** Of every route of `/v1` and `/v2`. */
export const ofRouter = [
  failure(401, ['unauthorized'], 'The request carries no usable credential.'),
  failure(
    403,
    ['forbidden', 'not_enabled'],
    'The credential is not entitled to this, or the router is not switched on for its workspace.',
  ),
  failure(500, ['internal_error'], 'The router itself failed.'),
  failure(503, ['service_unavailable'], 'A dependency is unavailable; retry with backoff.'),
];

/** Of every route that takes JSON. */
export const ofJsonBody = [
  failure(413, ['invalid_input'], 'The body is too large.'),
  failure(415, ['invalid_input'], 'The body is not sent as `application/json`.'),
];

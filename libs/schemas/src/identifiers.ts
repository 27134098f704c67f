import { z } from 'zod';

const segment = /^[a-z0-9]+([._-][a-z0-9]+)*$/;
const modelId = /^[a-z0-9]+([._-][a-z0-9]+)*\/[a-z0-9]+([._-][a-z0-9]+)*$/;
const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The provider that runs a model, as it stands in ids and paths. */
export const routerProviderSegment = z
  .string()
  .max(64)
  .regex(segment)
  .meta({ id: 'RouterProviderSegment', description: 'The provider that runs the model.', example: 'bfl' });

/** The model within its provider; a variant is part of this segment. */
export const routerModelSegment = z
  .string()
  .max(128)
  .regex(segment)
  .meta({ id: 'RouterModelSegment', description: 'The model within its provider.', example: 'flux-2-pro' });

/** Provider and model segment joined by one slash: what addresses a model in the run route. */
export const routerModelId = z.string().max(193).regex(modelId).meta({
  id: 'RouterModelId',
  description: 'Provider and model joined by one slash.',
  example: 'bfl/flux-2-pro',
});

/** Opaque to callers: passed back unchanged as `cursor`. */
export const routerPageCursor = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9._~+/=-]+$/)
  .meta({ id: 'RouterPageCursor', description: 'Where the next page starts; opaque.' });

/** Names one run. A call's `X-Service-Request-Id` is another id of the same form. */
export const routerQueueRequestId = z.string().max(36).regex(requestId).meta({
  id: 'RouterQueueRequestId',
  description: 'The id of one queued run.',
  example: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
});

/** Whether Postgres takes the text for an id, in letters of either case. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

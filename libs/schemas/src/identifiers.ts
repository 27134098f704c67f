import { z } from 'zod';

const segment = /^[a-z0-9]+([._-][a-z0-9]+)*$/;
const modelId = /^[a-z0-9]+([._-][a-z0-9]+)*\/[a-z0-9]+([._-][a-z0-9]+)*$/;
const requestId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The provider of a model, as in ids and paths. */
export const routerProviderSegment = z
  .string()
  .max(64)
  .regex(segment)
  .meta({ id: 'RouterProviderSegment', description: 'The provider that runs the model.', example: 'bfl' });

/** The model within its provider. A variant is part of this segment. */
export const routerModelSegment = z
  .string()
  .max(128)
  .regex(segment)
  .meta({ id: 'RouterModelSegment', description: 'The model within its provider.', example: 'flux-2-pro' });

/** Provider and model segment, joined by one slash. */
export const routerModelId = z
  .string()
  .max(193)
  .regex(modelId, 'must be provider/model, such as bfl/flux-2-pro')
  .meta({
    id: 'RouterModelId',
    description: 'Provider and model joined by one slash.',
    example: 'bfl/flux-2-pro',
  });

/** Opaque to callers, who pass it back unchanged as `cursor`. */
export const routerPageCursor = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9._~+/=-]+$/)
  .meta({
    id: 'RouterPageCursor',
    description: 'The position of the next page. Pass it back unchanged as `cursor`.',
  });

/** The id of a run. A call's `X-Service-Request-Id` is a different id in the same format. */
export const routerQueueRequestId = z
  .string()
  .max(36)
  .regex(requestId, 'must be the request_id of a run')
  .meta({
    id: 'RouterQueueRequestId',
    description: 'The id of a run.',
    example: '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234',
  });

/** Whether Postgres accepts the text as a UUID, in upper or lower case. */
export const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

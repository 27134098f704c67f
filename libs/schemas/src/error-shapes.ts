import { z } from 'zod';
import { text } from './fields.js';
import { bucketNames } from '#errors';

/** The closed set of fifteen; also the value of the `X-Service-Error-Type` header. */
export const routerErrorType = z
  .enum(bucketNames)
  .meta({ id: 'RouterErrorType', description: 'The category of a failure; the same value as the header.' });

/** The body of every router failure but the 422. */
export const routerErrorResponse = z
  .object({
    detail: text('For people; safe to show to end users, not for machine parsing.'),
    error_type: routerErrorType,
  })
  .meta({ id: 'RouterErrorResponse', description: 'A router failure.' });

const routerValidationErrorContext = z
  .record(z.string(), z.unknown())
  .meta({ id: 'RouterValidationErrorContext', description: 'The violated constraint.' });

const routerValidationErrorInput = z
  .unknown()
  .meta({ id: 'RouterValidationErrorInput', description: 'The rejected value, of any type.' });

/** One failing field. `ctx` is absent without a constraint, `input` when the value is not echoed. */
export const routerValidationErrorDetail = z
  .object({
    loc: z
      .array(z.unknown())
      .describe('Path of the failing field, outermost first; integers are array indexes.'),
    msg: text('For people.'),
    type: text('The specific reason; an open set.'),
    ctx: routerValidationErrorContext.optional(),
    input: routerValidationErrorInput.optional(),
  })
  .meta({ id: 'RouterValidationErrorDetail', description: 'One failing field.' });

/** The body of a 422. It has no `error_type`: the category is read from the header. */
export const routerValidationErrorResponse = z
  .object({
    detail: z.array(routerValidationErrorDetail).describe('One entry per failing field.'),
  })
  .meta({ id: 'RouterValidationErrorResponse', description: 'The model does not accept these fields.' });

/** The registry's error body: routes outside `/v1` and `/v2` answer with it. */
export const registryErrorResponse = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'ErrorResponse', description: 'A registry failure.' });

export type RouterErrorResponse = z.infer<typeof routerErrorResponse>;
export type RouterValidationErrorResponse = z.infer<typeof routerValidationErrorResponse>;
export type RegistryErrorResponse = z.infer<typeof registryErrorResponse>;

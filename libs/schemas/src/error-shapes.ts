import { z } from 'zod';
import { text } from './fields.js';
import { bucketNames } from '#errors';

/** The closed set of fifteen categories, also the values of the `X-Service-Error-Type` header. */
export const routerErrorType = z.enum(bucketNames).meta({
  id: 'RouterErrorType',
  description: 'The category of the error, the same as in the `X-Service-Error-Type` header.',
});

/** The body of every router error except the 422. */
export const routerErrorResponse = z
  .object({
    detail: text('A message for people. It is safe to show to end users; do not parse it.'),
    error_type: routerErrorType,
  })
  .meta({ id: 'RouterErrorResponse', description: 'An error of the router.' });

const routerValidationErrorContext = z
  .record(z.string(), z.unknown())
  .meta({ id: 'RouterValidationErrorContext', description: 'The violated constraint.' });

const routerValidationErrorInput = z
  .unknown()
  .meta({ id: 'RouterValidationErrorInput', description: 'The rejected value, of any type.' });

/** One invalid field. `ctx` is absent if there is no constraint, `input` if the value is not echoed. */
export const routerValidationErrorDetail = z
  .object({
    loc: z
      .array(z.unknown())
      .describe('The path of the invalid field, outermost first. Integers are array indexes.'),
    msg: text('A message for people.'),
    type: text('The kind of error. New kinds may be added.'),
    ctx: routerValidationErrorContext.optional(),
    input: routerValidationErrorInput.optional(),
  })
  .meta({ id: 'RouterValidationErrorDetail', description: 'One invalid field.' });

/** The body of a 422. It has no `error_type`; the category is in the header. */
export const routerValidationErrorResponse = z
  .object({
    detail: z.array(routerValidationErrorDetail).describe('One entry per invalid field.'),
  })
  .meta({
    id: 'RouterValidationErrorResponse',
    description: 'The input has fields that the model does not accept.',
  });

/** The error body of the registry, for routes outside `/v1` and `/v2`. */
export const registryErrorResponse = z
  .object({ error: z.string(), message: z.string() })
  .meta({ id: 'ErrorResponse', description: 'An error of the registry.' });

export type RouterErrorResponse = z.infer<typeof routerErrorResponse>;
export type RouterValidationErrorResponse = z.infer<typeof routerValidationErrorResponse>;
export type RegistryErrorResponse = z.infer<typeof registryErrorResponse>;

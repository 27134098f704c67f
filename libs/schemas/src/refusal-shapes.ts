import { z } from 'zod';
import { routerErrorType } from './error-shapes.js';
import { moment, pageOf, text } from './fields.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';

const refusal = {
  request_id: routerQueueRequestId.describe('The `X-Service-Request-Id` of the call.'),
  created_at: moment('When the call was refused.'),
  route: text('The method and the route of the call.'),
  model: routerModelId.optional().describe('The model, by the id or the alias that the call named.'),
  status: z
    .int()
    .describe(
      'The HTTP status as on `/v2`. A route with the format of a vendor may have answered another one.',
    ),
  error_type: routerErrorType,
  detail: text('The text of the refusal.'),
  fields: z
    .array(
      z.object({
        name: text('The path of the field. `…` stands for an unusual name.'),
        type: text('The kind of the problem, as in the answer.'),
      }),
    )
    .optional()
    .describe('The first fields that the model does not accept.'),
};

const routerRefusal = z
  .object(refusal)
  .meta({ id: 'RouterRefusal', description: 'A call for a run that was refused, so that there is no run.' });

export const routerRefusalListResponse = pageOf(routerRefusal, 'At most `limit` calls, newest first.', {
  id: 'RouterRefusalListResponse',
  description: 'One page of refused calls.',
});

export const operatorRefusal = z
  .object({
    ...refusal,
    workspace: z.object({ id: z.uuid(), name: z.string() }).describe('The workspace of the call.'),
  })
  .meta({ id: 'OperatorRefusal', description: 'A refused call of any workspace.' });

export type RouterRefusal = z.infer<typeof routerRefusal>;
export type OperatorRefusal = z.infer<typeof operatorRefusal>;

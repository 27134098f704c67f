import { z } from 'zod';
import { cents, moment, pageOf, text } from './fields.js';
import { routerModelId, routerQueueRequestId } from './identifiers.js';
import { severalLines } from './stored-text.js';

/** Everything that is recorded as an operator's action. */
export const operatorActions = [
  'backup.record',
  'budget.delete',
  'budget.set',
  'catalog.clear_overshoot',
  'database.import',
  'key.create',
  'key.revoke',
  'key.rotate',
  'node.ban',
  'node.tag',
  'node.unban',
  'provider.pause',
  'provider.resume',
  'provider_key.delete',
  'provider_key.rotate',
  'provider_key.set',
  'publisher.ban',
  'publisher.unban',
  'restore.objects',
  'restore.runs',
  'run.cancel',
  'run.delete',
  'run.refund',
  'sample.pin',
  'sample.unpin',
  'sign_in.create',
  'sign_in.use',
  'webhook.redeliver',
  'webhook.rotate_secret',
  'workspace.change',
  'workspace.create',
  'workspace.delete',
] as const;

export type OperatorActionName = (typeof operatorActions)[number];

const operatorAction = z
  .object({
    id: text('The id of the record.'),
    at: moment('When the action was taken.'),
    actor: text(
      'Who took the action: `key:<id>`, `token:<subject>`, or `<name> via admin:<user>@<host>` for a command, where the name is absent if none was given.',
    ),
    action: text('The action, such as `provider.pause`.'),
    subject: text(
      'What was changed: the name of a workspace, budget or provider, or the id of a key, run or node.',
    ),
    workspace: text('The name of the workspace, for actions that concern one.').optional(),
    details: z.record(z.string(), z.unknown()).describe('Further facts, which depend on the action.'),
  })
  .meta({ id: 'OperatorAction', description: 'An action by an operator, or a change of a key.' });

export const operatorAuditListResponse = pageOf(operatorAction, 'At most `limit` actions, newest first.', {
  id: 'OperatorAuditListResponse',
  description: 'One page of actions.',
});

export const operatorRefundInput = z
  .strictObject({
    note: severalLines(z.string().trim().min(1).max(500)).describe(
      'The text of the ledger entry. By default `refund`.',
    ),
  })
  .partial()
  .meta({ id: 'OperatorRefundInput', description: 'The reason for a refund.' });

export const operatorRefund = z
  .object({
    request_id: routerQueueRequestId,
    workspace: z.object({ id: z.uuid(), name: z.string() }).describe('The workspace of the run.'),
    model: routerModelId,
    refunded_cents: cents('The amount that was returned'),
    credits_cents: z
      .number()
      .nullable()
      .describe('The balance after the refund, in US dollar cents. Null for unlimited credits.'),
  })
  .meta({ id: 'OperatorRefund', description: 'The refund of a run.' });

export type OperatorActionView = z.infer<typeof operatorAction>;
export type OperatorRefund = z.infer<typeof operatorRefund>;

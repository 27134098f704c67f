import type { operations } from '../api/openapi.d.ts';

type Query = NonNullable<operations['v2OperatorListActions']['parameters']['query']>;

/** The recorded actions. The type lists all of them. */
const actions: Record<NonNullable<Query['action']>, string> = {
  'database.import': 'Database imported',
  'key.create': 'Key created',
  'key.revoke': 'Key revoked',
  'key.rotate': 'Key rotated',
  'node.ban': 'Node banned',
  'node.tag': 'Node tagged',
  'node.unban': 'Node unbanned',
  'provider.pause': 'Provider paused',
  'provider.resume': 'Provider resumed',
  'publisher.ban': 'Publisher banned',
  'publisher.unban': 'Publisher unbanned',
  'restore.objects': 'Stored objects deleted',
  'restore.runs': 'Restored runs ended',
  'run.cancel': 'Run cancelled',
  'run.refund': 'Run refunded',
  'sign_in.create': 'Sign-in link created',
  'sign_in.use': 'Sign-in link used',
  'webhook.redeliver': 'Webhook redelivered',
  'webhook.rotate_secret': 'Signing secret rotated',
  'workspace.change': 'Workspace changed',
  'workspace.create': 'Workspace created',
  'workspace.delete': 'Workspace deleted',
};

export const audit = {
  title: 'Audit',
  about: 'What operators changed, and every key and sign-in link that was made, used or revoked.',
  time: 'Time',
  actor: 'By',
  action: 'Action',
  subject: 'Subject',
  workspace: 'Workspace',
  since: 'From',
  until: 'Before',
  details: 'Details',
  any: 'Any',
  actions,
  clear: 'Clear filters',
  empty: 'No actions yet',
  emptyText: 'Changes by operators appear here.',
  noMatch: 'No actions match these filters',
  noMatchText: 'Remove a filter or choose a longer time range.',
  badFilter: 'A filter isn’t valid',
};

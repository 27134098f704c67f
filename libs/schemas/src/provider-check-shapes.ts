import { z } from 'zod';
import { count, moment, text } from './fields.js';
import { routerModelId, routerProviderSegment, routerQueueRequestId } from './identifiers.js';

const namesOf = <Name extends string>(meanings: Readonly<Record<Name, string>>) =>
  Object.keys(meanings) as [Name, ...Name[]];

const listed = (meanings: Readonly<Record<string, string>>) =>
  Object.entries(meanings)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join(' ');

/** The results of checking a provider's key, and what each says. */
const providerCheckResults = {
  ok: 'The provider accepts our key.',
  rejected: 'The provider rejects our key.',
  unreachable: 'The provider did not answer in time, or its reply says nothing about the key.',
  no_free_check: 'No free call that proves the key is declared for the provider.',
  no_key: 'No worker has a key for the provider.',
  no_worker: 'No worker made the call in time.',
} as const;

export type ProviderCheckResult = keyof typeof providerCheckResults;

/** The kinds of replies that a provider's declaration does not expect, and what each means. */
const surpriseKinds = {
  unknown_status: 'The reply names a state that the provider’s file does not list.',
  unknown_error: 'The reply is an error in a form that the provider’s file does not describe.',
  unreadable: 'The reply has the status of a success but cannot be read.',
  no_files:
    'The reply is a success with nothing at the places of its files. It is the result, billed only if it reports a cost.',
  missing_asset: 'As `no_files`, counted by an earlier release.',
  missing_cost: 'No reply of a finished run reported the cost that the model’s row names.',
} as const;

export type SurpriseKind = keyof typeof surpriseKinds;

export const surpriseKindNames: readonly SurpriseKind[] = namesOf(surpriseKinds);

const checkFacts = {
  result: z
    .enum(namesOf(providerCheckResults))
    .describe(`The result of the check. ${listed(providerCheckResults)}`),
  latency_ms: z.int().min(0).describe('The duration of the call, in milliseconds.').optional(),
  http_status: z.int().describe('The HTTP status of the provider’s reply.').optional(),
  balance: z
    .object({
      amount: z.number().describe('The amount.'),
      unit: text('The unit of the amount, such as credits or US dollars.'),
    })
    .describe('Our balance at the provider, if its reply says it.')
    .optional(),
  detail: text('The reason for the result, in a sentence.').optional(),
};

export const operatorProviderCheck = z
  .object({
    provider: routerProviderSegment,
    ...checkFacts,
    checked_at: moment('When the provider was called. Absent if it was not.').optional(),
  })
  .meta({ id: 'OperatorProviderCheck', description: 'The result of checking a provider’s key.' });

/** The last check, as a part of a provider. */
export const lastProviderCheck = z
  .object({ ...checkFacts, checked_at: moment('When the provider was called.') })
  .describe('The last check of our key that an operator asked for. Absent if there was none.');

export const operatorSurprise = z
  .object({
    kind: z.enum(namesOf(surpriseKinds)).describe(`The kind. ${listed(surpriseKinds)}`),
    count: count('The number of such replies since `first_at`.'),
    first_at: moment('When the first of them arrived.'),
    last_at: moment('When the newest of them arrived.'),
    request_id: routerQueueRequestId.describe('The run of the newest one.'),
    model: routerModelId.describe('The model of that run.').optional(),
    detail: text('What the newest one says, in a sentence.'),
    http_status: z.int().describe('The HTTP status of the newest one.').optional(),
    reply: text('The beginning of the newest one, redacted. Absent if it is not text.').optional(),
  })
  .meta({
    id: 'OperatorSurprise',
    description: 'Replies of a provider that its declaration does not expect.',
  });

export type OperatorProviderCheck = z.infer<typeof operatorProviderCheck>;
export type OperatorSurprise = z.infer<typeof operatorSurprise>;

import { RE2JS } from 're2js';
import { z } from 'zod';
import { type Rule, ruleRetries } from '../rules.js';

export const pointer = z
  .templateLiteral(['/', z.string()])
  .describe('A place in a JSON reply (RFC 6901); a segment * stands for every element.');
export const pointers = z.union([pointer, z.array(pointer).min(1)]);
export const status = z.int().min(100).max(599);
export const header = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'a header name in lower case');

const matching = z
  .strictObject({
    matches: z
      .string()
      .max(1000)
      .refine(isLinear, { message: 'a pattern without a linear-time form' })
      .describe('A pattern without look-around and back references.'),
  })
  .describe('Texts and numbers in which the pattern is found.');

/** What a reply may mean, and what the caller gets then. */
const failureClasses = {
  rejected_input: '422 `invalid_input` with the fields',
  content_policy: '400 `content_policy_violation`; billed where the model’s row says so',
  provider_failed: '502 `provider_error`',
  provider_timeout: '504 `provider_timeout`',
  provider_unavailable:
    '503 `service_unavailable` once the time budget is spent, if the call may be made again',
  provider_account: '502 `provider_error`, and the operator an alert: our key or balance there is refused',
  model_gone: '502 `provider_error`: the provider does not know the model of the row',
  unreadable: '502 `provider_error`: the reply cannot be understood',
  canceled: '409 if the caller cancelled the run, otherwise 502 `provider_error`',
} as const satisfies Record<Rule['class'], string>;

/** One of the names of a table, which says what each does. */
const named = <Name extends string>(meanings: Readonly<Record<Name, string>>) =>
  z.enum(Object.keys(meanings) as [Name, ...Name[]]).meta({ meanings });

/** Replies are as long as a provider likes: patterns run on an engine whose time grows with the length only. */
const linear = (pattern: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(pattern));

function isLinear(pattern: string): boolean {
  try {
    return linear(pattern).programSize() <= 1000;
  } catch {
    return false;
  }
}

const phase = z.enum(['upload', 'submit', 'poll', 'fetch']);

const conditions = {
  phase: z
    .union([phase, z.array(phase).min(1)])
    .optional()
    .describe('The call, or several; left out, every one.'),
  http: z
    .union([status, z.literal('error')])
    .optional()
    .describe('The status of the reply, or `error` for any that is not 2xx.'),
  where: pointers
    .optional()
    .describe('The place, or several, one of which must hold something, or hold what `is` says.'),
  header: header.optional().describe('The header field that must be there, or hold what `is` says.'),
  is: z
    .union([z.string(), z.number(), z.boolean(), matching])
    .optional()
    .describe('The value at `where` or `header`.'),
  unless: pointers
    .optional()
    .describe('Places that hold nothing; one that holds something, and the rule does not.'),
};

/** A condition on a reply, with the members that say what follows from it. */
const conditional = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...conditions, ...shape })
    .refine((given) => ['http', 'where', 'header'].some((name) => name in given), {
      message: 'a rule names http, where or header; without one it would hold for every reply',
    })
    .refine((given) => !('is' in given) || 'where' in given || 'header' in given, {
      message: 'is stands beside where or header',
    });

export const rule = conditional({
  class: named(failureClasses).describe('What the reply means.'),
  retry: named(ruleRetries).optional().describe('Whether the call is made again; left out, `never`.'),
});

export const condition = conditional({});

const source = z.string().min(1).describe('The address of the document.');
const date = z.iso.date().describe('The day on which it was read.');

const reports = z.union([
  z.array(conditional({ source, date })).min(1),
  z.strictObject({
    not_documented_in: z.string().min(1).describe('The document in which such a reply would be, and is not.'),
    date,
  }),
]);

export const account = z.strictObject({
  key: reports.describe('Replies that say that the key is refused.'),
  balance: reports.describe('Replies that say that the balance is empty.'),
  quota: reports.describe(
    'Replies that say that an allowance is used up which waiting for seconds does not restore.',
  ),
});

/** A condition as the engine reads it: patterns run in linear time. */
export const conditionOf = <Given extends { is?: z.infer<typeof conditions.is> }>({
  is,
  ...others
}: Given) => ({
  ...others,
  is: typeof is === 'object' ? linear(is.matches) : is,
});

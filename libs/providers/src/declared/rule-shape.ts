import { RE2JS } from 're2js';
import { z } from 'zod';
import { type Rule, ruleRetries } from '../rules.js';
import { inputHeaderNames } from '../input-headers.js';

export const pointer = z
  .templateLiteral(['/', z.string()])
  .describe('A JSON pointer (RFC 6901) into a JSON reply. A segment `*` stands for every element of a list.');
export const pointers = z.union([pointer, z.array(pointer).min(1)]);
export const status = z.int().min(100).max(599);
export const header = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'expected a header name in lower case');
export const headers = z.record(
  header,
  z.string().regex(/^[\t\x20-\x7e]*$/, 'expected visible ASCII characters'),
);

/** The headers of a call that a provider reads as a part of the input. */
export const takenHeaders = z
  .partialRecord(
    z.enum(inputHeaderNames),
    z.strictObject({
      priced: z
        .array(z.string().min(1))
        .default([])
        .describe('The beginnings of values that have a price of their own. A call with one is refused.'),
    }),
  )
  .describe('Headers of the caller that are a part of the input. They are sent as they came.');

/** The meanings of a reply, and the answer that the caller gets. */
const failureClasses = {
  rejected_input: '422 `invalid_input`, with the rejected fields.',
  content_policy: '400 `content_policy_violation`. Billed if the model’s row says so.',
  provider_failed: '502 `provider_error`.',
  provider_timeout: '504 `provider_timeout`.',
  provider_unavailable:
    'If the call may be repeated, it is retried until the time budget is spent. Then 503 `service_unavailable`.',
  provider_account:
    '502 `provider_error`. The operator gets an alert that the provider rejects our key or balance.',
  model_gone: '502 `provider_error`. The provider does not know the model of the row.',
  unreadable: '502 `provider_error`. The reply cannot be interpreted.',
  canceled: '409 if the caller cancelled the run, otherwise 502 `provider_error`.',
} as const satisfies Record<Rule['class'], string>;

/** One of the names of a table, whose values say what each name means. */
const named = <Name extends string>(meanings: Readonly<Record<Name, string>>) =>
  z.enum(Object.keys(meanings) as [Name, ...Name[]]).meta({ meanings });

/** Replies may be of any length, so patterns run on an engine that needs linear time. */
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
    .describe('The call or calls whose replies match. Defaults to all calls.'),
  http: z
    .union([status, z.literal('error')])
    .optional()
    .describe('The HTTP status of the reply, or `error` for any status other than 2xx.'),
  path: pointers
    .optional()
    .describe(
      'A place in the reply, or a list of places (JSON pointers). At least one of them must have a value, or, with `equals` or `matches`, a matching value.',
    ),
  header: header
    .optional()
    .describe(
      'The name of a header that the reply must have, with a matching value if `equals` or `matches` is set.',
    ),
  equals: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('The value that `path` or `header` must have.'),
  matches: z
    .string()
    .max(1000)
    .refine(isLinear, { message: 'the pattern has no linear-time form' })
    .optional()
    .describe(
      'A regular expression that must match somewhere in the text or number of `path` or `header`. It cannot use look-around or back references.',
    ),
  unless: pointers
    .optional()
    .describe(
      'A place in the reply, or a list of places. If any of them has a value, the condition does not hold.',
    ),
};

/** A condition on a reply, with the members of `shape`. */
const conditional = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...conditions, ...shape })
    .refine((given) => ['http', 'path', 'header'].some((name) => name in given), {
      message: 'a rule needs http, path or header; without one it would match every reply',
    })
    .refine((given) => !('equals' in given || 'matches' in given) || 'path' in given || 'header' in given, {
      message: 'equals and matches require path or header',
    })
    .refine((given) => !('equals' in given && 'matches' in given), {
      message: 'equals and matches cannot be combined',
    });

export const rule = conditional({
  class: named(failureClasses).describe('The class of the failure, which decides what the caller gets.'),
  retry: named(ruleRetries).optional().describe('Whether the call is repeated. Defaults to `never`.'),
});

export const condition = conditional({});

/** A condition on one event of a stream. */
export const eventCondition = z
  .strictObject({
    path: pointers.describe(
      'A place in the event, or a list of places (JSON pointers). At least one of them must have a value, or, with `equals` or `matches`, a matching value.',
    ),
    equals: conditions.equals.describe('The value that `path` must have.'),
    matches: conditions.matches.describe(
      'A regular expression that must match somewhere in the text or number of `path`. It cannot use look-around or back references.',
    ),
    unless: conditions.unless,
  })
  .refine((given) => !('equals' in given && 'matches' in given), {
    message: 'equals and matches cannot be combined',
  });

const source = z.string().min(1).describe('The URL of the document that shows the reply.');
const date = z.iso.date().describe('The day on which the document was read.');

const reports = z.union([
  z.array(conditional({ source, date })).min(1),
  z.strictObject({
    not_documented_in: z
      .string()
      .min(1)
      .describe('The document that should describe such a reply but does not.'),
    date,
  }),
]);

export const account = z.strictObject({
  key: reports.describe('Replies which mean that the provider rejects the key.'),
  balance: reports.describe('Replies which mean that the balance is used up.'),
  quota: reports.describe('Replies which mean that a quota is used up for longer than a few seconds.'),
});

/** A condition for the engine, with its pattern compiled. */
export const conditionOf = <Given extends { matches?: string | undefined }>({
  matches,
  ...others
}: Given) => ({
  ...others,
  matches: matches === undefined ? undefined : linear(matches),
});

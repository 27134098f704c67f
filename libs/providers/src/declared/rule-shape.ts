import { RE2JS } from 're2js';
import { z } from 'zod';
import { type Rule, ruleRetries } from '../rules.js';

export const pointer = z
  .templateLiteral(['/', z.string()])
  .describe('A JSON Pointer (RFC 6901) into a JSON reply; a segment `*` stands for every element of a list.');
export const pointers = z.union([pointer, z.array(pointer).min(1)]);
export const status = z.int().min(100).max(599);
export const header = z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]+$/, 'a header name in lower case');

/** The meanings of a reply, and the answer that the caller gets. */
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
    .describe('The call that the reply answers, or several calls. Left out, every call.'),
  http: z
    .union([status, z.literal('error')])
    .optional()
    .describe('The HTTP status of the reply, or `error` for every status other than 2xx.'),
  path: pointers
    .optional()
    .describe(
      'One place in the reply or a list of places. At least one must have a value; with `equals` or `matches`, that value.',
    ),
  header: header
    .optional()
    .describe('A header field that the reply must have; with `equals` or `matches`, that value.'),
  equals: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('The value at `path` or of `header`.'),
  matches: z
    .string()
    .max(1000)
    .refine(isLinear, { message: 'a pattern without a linear-time form' })
    .optional()
    .describe(
      'A regular expression that is found in the text or number at `path` or of `header`, without look-around and back references.',
    ),
  unless: pointers
    .optional()
    .describe('One place in the reply or a list of places. If any has a value, the condition does not hold.'),
};

/** A condition on a reply, with the members of `shape`. */
const conditional = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .strictObject({ ...conditions, ...shape })
    .refine((given) => ['http', 'path', 'header'].some((name) => name in given), {
      message: 'a rule needs http, path or header; without one it would match every reply',
    })
    .refine((given) => !('equals' in given || 'matches' in given) || 'path' in given || 'header' in given, {
      message: 'equals and matches need path or header',
    })
    .refine((given) => !('equals' in given && 'matches' in given), {
      message: 'equals and matches exclude each other',
    });

export const rule = conditional({
  class: named(failureClasses).describe('What the reply means.'),
  retry: named(ruleRetries).optional().describe('Whether the call is repeated. Left out, `never`.'),
});

export const condition = conditional({});

const source = z.string().min(1).describe('The address of the document that shows the reply.');
const date = z.iso.date().describe('The day on which the document was read.');

const reports = z.union([
  z.array(conditional({ source, date })).min(1),
  z.strictObject({
    not_documented_in: z.string().min(1).describe('The document that would show such a reply, and does not.'),
    date,
  }),
]);

export const account = z.strictObject({
  key: reports.describe('Replies that mean that the key is refused.'),
  balance: reports.describe('Replies that mean that the balance is empty.'),
  quota: reports.describe('Replies that mean that an allowance is used up, and not only for seconds.'),
});

/** A condition for the engine, with its pattern compiled. */
export const conditionOf = <Given extends { matches?: string | undefined }>({
  matches,
  ...others
}: Given) => ({
  ...others,
  matches: matches === undefined ? undefined : linear(matches),
});

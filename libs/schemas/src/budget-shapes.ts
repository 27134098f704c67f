import { IANAZone } from 'luxon';
import { z } from 'zod';
import { routerTagName, routerTags, routerUser } from './attribution.js';
import { cents, moment, pageOf, text } from './fields.js';
import { momentOf } from './moment.js';
import { maxCents } from './money.js';

/** The maximum number of budgets of a workspace. Each admission checks all of them. */
export const maxBudgets = 50;
const maxRaises = 10;

const windows = ['day', 'week', 'month', 'total'] as const;
const kinds = ['hard', 'soft'] as const;

const none = z
  .enum(['counted', 'uncounted'])
  .describe('Whether a budget of each end user counts the runs without one, together as one more user.');

/**
 * The zones of the IANA database with three letters. Other abbreviations mean another time to the database than to the
 * engine: CST is Chicago's time to one and never has summer time to the other.
 */
const shortZones = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));
const isUnambiguous = (zone: string): boolean => zone.length !== 3 || shortZones.has(zone.toUpperCase());

/** `*` matches within a segment of a model id, `**` and a lone `*` match everything. */
const glob = /^[a-z0-9._*/-]{1,200}$/;

export const routerBudgetName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"');

const routerBudgetScope = z.union(
  [z.enum(['workspace', 'key', 'user', 'model']), z.templateLiteral(['tag:', routerTagName])],
  'must be workspace, key, user, model or tag:<name>',
);

const wholeCents = (description: string) =>
  z.int().min(1).max(maxCents).describe(`${description}, in whole US dollar cents.`);
/** `momentOf` is the only reader of these texts. The database gets its result. */
const date = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .refine((time) => momentOf(time) !== null, 'must be a time of the years 1 to 9999')
    .describe(description);
const millisecondsOf = (time: string): number => momentOf(time)?.getTime() ?? Number.NaN;

const raise = z.strictObject({
  amount_cents: wholeCents('The amount that is added to the limit'),
  from: date('When the raise begins.'),
  until: date('When it ends.'),
});

const raises = z
  .array(raise)
  .max(maxRaises)
  .describe('Temporary additions to the limit. They must not overlap.');

/** Why a value does not fit its scope, as the end of a sentence. Undefined if it does. */
function valueProblem(scope: string, value: string | undefined): string | undefined {
  if (scope === 'workspace')
    return value === undefined ? undefined : 'must be absent for the whole workspace';
  if (scope === 'model')
    return value !== undefined && glob.test(value)
      ? undefined
      : 'must be a glob over model ids, such as bfl/*';
  if (value === undefined) return undefined;
  if (scope === 'key') return z.uuid().safeParse(value).success ? undefined : 'must be the id of a key';
  if (scope === 'user')
    return value === '' || routerUser.safeParse(value).success
      ? undefined
      : 'must be at most 128 visible ASCII characters';
  const isTag = routerTags.safeParse({ tag: value }).success;
  return isTag ? undefined : 'must be 1 to 128 visible ASCII characters without a comma';
}

/** Why raises do not fit together. Undefined if they do. */
function raisesProblem(given: readonly z.infer<typeof raise>[]): string | undefined {
  const times = given
    .map(({ from, until }) => [millisecondsOf(from), millisecondsOf(until)] as const)
    .toSorted(([one], [other]) => one - other);
  if (times.some(([from, until]) => from >= until)) return 'must end after they begin';
  return times.some(([, until], nth) => until > (times[nth + 1]?.[0] ?? Infinity))
    ? 'must not overlap'
    : undefined;
}

export const routerBudgetInput = z
  .strictObject({
    scope: routerBudgetScope
      .default('workspace')
      .describe(
        'The runs that count: all of the workspace, or those of a key, an end user, a tag or models.',
      ),
    value: z.string().optional().meta({
      description:
        'The id of a key, an end user (empty for runs without one), the value of the tag, or a glob over model ids. Without it each key, user or value has the limit for itself; a model needs one.',
      example: 'bfl/*',
    }),
    none: none
      .optional()
      .meta({ description: `${none.description} A new budget does not unless it says \`counted\`.` }),
    window: z.enum(windows).describe('When the budget starts anew. A week starts on Monday; `total` never.'),
    time_zone: z
      .string()
      .max(64)
      .default('UTC')
      .refine(
        (zone) => /^[A-Z]/i.test(zone) && isUnambiguous(zone) && IANAZone.isValidZone(zone),
        'must be a time zone such as Europe/Berlin',
      )
      .describe('The time zone in which days begin.'),
    limit_cents: wholeCents('The maximum cost of the runs of a window'),
    kind: z
      .enum(kinds)
      .default('hard')
      .describe('`hard`: a run that does not fit is refused. `soft`: the budget only notifies.'),
    webhook_url: z
      .url()
      .optional()
      .describe('The URL that is called when 50, 80 and 100 percent of the limit are spent.'),
    raises: raises.default([]),
  })
  .superRefine((budget, context) => {
    const value = valueProblem(budget.scope, budget.value);
    if (value !== undefined) context.addIssue({ code: 'custom', path: ['value'], message: value });
    if (budget.none !== undefined && (budget.scope !== 'user' || budget.value !== undefined))
      context.addIssue({
        code: 'custom',
        path: ['none'],
        message: 'must be absent unless the scope is user, without a value',
      });
    const overlap = raisesProblem(budget.raises);
    if (overlap !== undefined) context.addIssue({ code: 'custom', path: ['raises'], message: overlap });
  })
  .meta({ id: 'RouterBudgetInput', description: 'A budget, in full.' });

const amounts = {
  spent_cents: cents('The cost of the runs that ended'),
  reserved_cents: cents('The maximum cost of the live runs'),
};

const counted = { scope: routerBudgetScope, value: text('The counted value of the scope.').optional() };

/** The window of a budget. A total has no times. */
const bounds = {
  starts_at: moment('When the window started. Absent for a total.').optional(),
  resets_at: moment('When the next window starts. Absent for a total.').optional(),
};

export const routerBudget = z
  .object({
    name: routerBudgetName.describe('The name of the budget.'),
    ...counted,
    none: none.optional(),
    window: z.enum(windows),
    time_zone: text('The time zone in which days begin.'),
    limit_cents: cents('The limit without raises'),
    kind: z.enum(kinds),
    webhook_url: z.url().optional(),
    raises,
    current: z
      .object({
        ...bounds,
        limit_cents: cents('The limit with the present raise'),
        spent_cents: amounts.spent_cents.optional(),
        reserved_cents: amounts.reserved_cents.optional(),
      })
      .describe(
        'The present window. The amounts are absent if each value has the limit for itself; list them with `/values`.',
      ),
  })
  .meta({ id: 'RouterBudget', description: 'A budget and what its present window has used.' });

export const routerBudgetListResponse = z
  .object({ data: z.array(routerBudget).max(maxBudgets).describe('All budgets, by name.') })
  .meta({ id: 'RouterBudgetListResponse', description: 'The budgets of a workspace.' });

const routerBudgetValue = z
  .object({
    value: text(
      'The id of the key (`token` for all access tokens), the end user (empty for runs without one) or the value of the tag.',
    ),
    ...amounts,
  })
  .meta({ id: 'RouterBudgetValue', description: 'What a value of a budget has used in the present window.' });

export const routerBudgetValueListResponse = pageOf(
  routerBudgetValue,
  'At most `limit` values, in their order.',
  {
    id: 'RouterBudgetValueListResponse',
    description: 'One page of the values that runs of the present window have.',
  },
);

/** The body of the call to the `webhook_url` of a budget. */
export const routerBudgetThreshold = z
  .object({
    type: z.literal('budget.threshold'),
    timestamp: moment('When the share of the limit was spent.'),
    data: z.object({
      budget: routerBudgetName.describe('The name of the budget.'),
      threshold: z.literal([50, 80, 100]).describe('The share of the limit that is spent, in percent.'),
      ...counted,
      window: z.enum(windows),
      kind: z.enum(kinds),
      ...bounds,
      limit_cents: cents('The limit'),
      ...amounts,
    }),
  })
  .meta({
    id: 'RouterBudgetThreshold',
    description:
      'The call to the `webhook_url` of a budget, signed according to Standard Webhooks. It may arrive more than once, with the same `webhook-id`.',
  });

export type RouterBudgetInput = z.output<typeof routerBudgetInput>;
export type RouterBudget = z.infer<typeof routerBudget>;
export type RouterBudgetValue = z.infer<typeof routerBudgetValue>;
export type RouterBudgetThreshold = z.infer<typeof routerBudgetThreshold>;

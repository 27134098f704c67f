import type { Quote } from '#catalog';
import { RouterError } from '#errors';
import type { Admitted, Refusal, RefusingBudget } from '#persistence';
import { centsFromMicros, centsText } from '#schemas';

type Refused = Extract<Admitted, { kind: 'refused' }>;

/** `advice` is a sentence, or empty. */
type Advised = Refused & { advice: string };

/** The error of each limit that can reject an admission. */
const refusals = {
  credits: (refused) =>
    new RouterError(
      'insufficient_credits',
      `The workspace does not have enough credits for this call: ${creditsText(refused)}.${refused.advice}`,
    ),
  budget: ({ budget, costMicros, advice }) => {
    if (!budget) throw new Error('a refusal by a budget does not name it');
    const { name, resetsAt } = budget;
    const use = `it needs ${centsText(costMicros)} cents; ${budgetUse(budget)}`;
    if (resetsAt === null)
      return new RouterError(
        'insufficient_credits',
        `The budget "${name}" has no room for this call: ${use}. It does not reset.${advice}`,
      );
    const reset = new Date(resetsAt).toISOString();
    return new RouterError(
      'rate_limited',
      `The budget "${name}" has no room for this call: ${use}. It resets at ${reset}.${advice}`,
    );
  },
  window: ({ windowLimit }) =>
    new RouterError(
      'rate_limited',
      `The workspace has reached its limit of ${windowLimit} runs per minute; retry in the next full minute.`,
    ),
  inflight: ({ inflight }) =>
    tooMany(`The workspace has reached its limit with ${inflight} calls in flight; retry when one finishes.`),
  backlog: ({ backlogLimit }) =>
    tooMany(
      `The workspace has reached its limit with ${backlogLimit} requests waiting; retry when one finishes.`,
    ),
  spend: (refused) =>
    tooMany(
      `The committed spend of the calls in flight leaves no room for this call, which needs ${spendText(refused)}; retry when one finishes.${refused.advice}`,
      committedSpend(refused),
    ),
  ceiling: (refused) =>
    tooMany(
      `This call alone needs more than the workspace’s limit on committed spend, ${spendText(refused)}; waiting will not help.${refused.advice}`,
      committedSpend(refused),
    ),
} satisfies Record<Refusal, (refused: Advised) => RouterError>;

export const refusingLimits = Object.keys(refusals);

/**
 * The error of a rejected admission. It names the limit and, if amounts decided, the field of the input that lowers
 * the amount that the call needs.
 */
export const refusal = (refused: Refused, lowering?: Quote['lowering']): RouterError =>
  refusals[refused.limit]({ ...refused, advice: lowering ? adviceText(lowering) : '' });

const adviceText = ({ field, isSet }: NonNullable<Quote['lowering']>): string =>
  isSet ? ` A lower ${field} reserves less.` : ` Set ${field} to reserve less.`;

/** The sum that did not fit: the reserve in the balance, or the bounds in the balance and the overdraft. */
function creditsText(refused: Refused): string {
  const { costMicros, boundMicros, balanceMicros, heldMicros, excessMicros, overdraftLimitMicros } = refused;
  const balance = balanceMicros ?? 0;
  const reserved = `the balance is ${centsText(balance)} cents, of which ${centsText(heldMicros)} are reserved`;
  if (balance - heldMicros < costMicros) return `it needs ${centsText(costMicros)} cents; ${reserved}`;
  return `it may cost up to ${centsText(boundMicros)} cents; ${reserved}, live runs may cost ${centsText(excessMicros)} more, and the overdraft is ${centsText(overdraftLimitMicros)}`;
}

const spendText = ({ costMicros, committedMicros, committedLimitMicros }: Refused): string =>
  `${centsText(costMicros)} cents of ${centsText(committedLimitMicros)}, of which ${centsText(committedMicros)} are committed`;

const budgetUse = ({ limitMicros, spentMicros, reservedMicros }: RefusingBudget): string =>
  `its limit is ${centsText(limitMicros)} cents, of which ${centsText(spentMicros)} are spent and ${centsText(reservedMicros)} reserved`;

const tooMany = (detail: string, headers: Record<string, string> = {}): RouterError =>
  new RouterError('concurrency_limit_exceeded', detail, { headers });

/** In US dollar cents. Current is rounded up, so that current and remaining never promise more than the limit. */
function committedSpend({ committedMicros, committedLimitMicros }: Refused): Record<string, string> {
  const limit = Math.floor(centsFromMicros(committedLimitMicros));
  const current = Math.ceil(centsFromMicros(committedMicros));
  return {
    'X-Committed-Spend-Limit': String(limit),
    'X-Committed-Spend-Current': String(current),
    'X-Committed-Spend-Remaining': String(Math.max(0, limit - current)),
  };
}

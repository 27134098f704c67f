import { RouterError } from '#errors';
import type { Admitted, Refusal, RefusingBudget } from '#persistence';
import { centsFromMicros, centsText } from '#schemas';

type Refused = Extract<Admitted, { kind: 'refused' }>;

/** The error of each limit that can reject an admission. */
const refusals = {
  credits: () =>
    new RouterError('insufficient_credits', 'The workspace does not have enough credits for this call.'),
  budget: ({ budget }) => {
    if (!budget) throw new Error('a refusal by a budget does not name it');
    const { name, resetsAt } = budget;
    const use = budgetUse(budget);
    if (resetsAt === null)
      return new RouterError(
        'insufficient_credits',
        `The budget "${name}" has no room for this call: ${use}. It does not reset.`,
      );
    const reset = new Date(resetsAt).toISOString();
    return new RouterError(
      'rate_limited',
      `The budget "${name}" has no room for this call: ${use}. It resets at ${reset}.`,
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
      'The committed spend of the calls in flight leaves no room for this call; retry when one finishes.',
      committedSpend(refused),
    ),
  ceiling: (refused) =>
    tooMany(
      'This call alone could cost more than the workspace’s limit on committed spend; waiting will not help.',
      committedSpend(refused),
    ),
} satisfies Record<Refusal, (refused: Refused) => RouterError>;

export const refusingLimits = Object.keys(refusals);

/** The error of a rejected admission, which names the limit. */
export const refusal = (refused: Refused): RouterError => refusals[refused.limit](refused);

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

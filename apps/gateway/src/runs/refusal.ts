import { RouterError } from '#errors';
import type { Admitted, Refusal } from '#persistence';
import { centsFromMicros } from '#schemas';

type Refused = Extract<Admitted, { kind: 'refused' }>;

/** Every limit that can refuse an admission. */
export const refusingLimits = Object.keys({
  ceiling: 0,
  credits: 0,
  window: 0,
  inflight: 0,
  spend: 0,
  backlog: 0,
} satisfies Record<Refusal, 0>);

/** A refused admission as the error that names the limit. */
export function refusal(refused: Refused): RouterError {
  switch (refused.limit) {
    case 'credits':
      return new RouterError('insufficient_credits', 'The workspace has not enough credits for this call.');
    case 'window':
      return new RouterError(
        'rate_limited',
        `The allowance of ${refused.windowLimit} runs per minute is spent; a new one starts with the next full minute.`,
      );
    case 'inflight':
      return new RouterError(
        'concurrency_limit_exceeded',
        `The workspace has ${refused.inflight} calls in flight, as many as allowed; retry when one finishes.`,
      );
    case 'backlog':
      return new RouterError(
        'concurrency_limit_exceeded',
        `The workspace has ${refused.backlogLimit} requests waiting, as many as allowed; retry when one finishes.`,
      );
    case 'spend':
      return new RouterError(
        'concurrency_limit_exceeded',
        'The committed spend of the calls in flight leaves no room for this call; retry when one finishes.',
        { headers: committedSpend(refused) },
      );
    case 'ceiling':
      return new RouterError(
        'concurrency_limit_exceeded',
        'This call alone costs more than the ceiling on committed spend; waiting will not help.',
        { headers: committedSpend(refused) },
      );
  }
}

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

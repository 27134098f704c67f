import { type Model, visibleProvider } from '#catalog';
import type { RunFacts } from '#persistence';
import type { Serving } from './run-input.js';

/** What the run's row holds of the first of its servers, and in it of the next. */
export function factsOf(
  model: Model,
  [{ row, price, upstream, missingMembers: members }, next, ...others]: [Serving, ...Serving[]],
  traceparent: string | undefined,
): RunFacts {
  return {
    upstream,
    assets: row.assetPointers,
    chargesOnPolicyRejection: row.chargesOnPolicyRejection,
    budgetMs: row.budgetMs,
    basis: price.basis,
    reported: price.reported,
    members,
    ...(traceparent !== undefined && { traceparent }),
    ...(model.servers.length > 0 && { server: visibleProvider(row.id) }),
    ...(next && {
      fallback: {
        provider: next.row.provider,
        computedMicros: next.price.computedMicros,
        facts: factsOf(model, [next, ...others], traceparent),
      },
    }),
  };
}

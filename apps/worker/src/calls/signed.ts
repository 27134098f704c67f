import type { BoundProvider, Outcome } from '#providers';

/** The outcome, with the links to our own storage signed where the provider writes there. */
export function signed({ adapter, secret }: BoundProvider, outcome: Outcome): Outcome {
  if (outcome.kind !== 'succeeded' || secret === undefined || !adapter.sign) return outcome;
  return { ...outcome, output: adapter.sign(outcome.output, secret, Date.now()) };
}

import type { Provider } from '../../api/operator.ts';

/** The share of runs that failed, as the list of failed runs has it: one that its caller withdrew did not fail. */
export function failedShare({ requests, succeeded, errors }: Provider['last_day']): string {
  const failed = requests - succeeded - (errors.client_disconnected ?? 0);
  return requests === 0 ? '–' : `${((100 * failed) / requests).toFixed(1)}%`;
}

import type { Provider } from '../../api/operator.ts';

/** The share of runs that failed. As in the list of failed runs, a run that its caller cancelled didn't fail. */
export function failedShare({ requests, succeeded, errors }: Provider['last_day']): string {
  const failed = requests - succeeded - (errors.client_disconnected ?? 0);
  return requests === 0 ? '–' : `${((100 * failed) / requests).toFixed(1)}%`;
}

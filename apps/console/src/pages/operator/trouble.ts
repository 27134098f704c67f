import type { Provider } from '../../api/operator.ts';

/** The states that an operator should see first, in order. */
const troubles: Provider['state'][] = ['key_rejected', 'no_balance', 'failing', 'throttled', 'paused'];

export const isTroubled = ({ state }: Provider): boolean => troubles.includes(state);

/** Troubled and paused providers first, then the busiest. The service sorts them by name. */
export function troubledFirst(one: Provider, other: Provider): number {
  return (
    rankOf(one) - rankOf(other) ||
    other.pressure.under_way.runs - one.pressure.under_way.runs ||
    other.last_day.requests - one.last_day.requests
  );
}

const rankOf = (provider: Provider): number =>
  isTroubled(provider) ? troubles.indexOf(provider.state) : troubles.length;

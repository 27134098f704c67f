import type { Provider } from '../../api/operator.ts';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';

/** The provider's most serious condition. */
export function ProviderState({ provider: { has_key, pauses } }: { provider: Provider }) {
  if (pauses.some(({ asked_by }) => asked_by === 'operator'))
    return <StateMark tone="warn">{texts.providers.paused}</StateMark>;
  if (pauses.length > 0) return <StateMark tone="warn">{texts.providers.backingOff}</StateMark>;
  if (has_key === null) return <StateMark tone="waiting">{texts.providers.unknown}</StateMark>;
  return has_key ? (
    <StateMark tone="good">{texts.providers.ready}</StateMark>
  ) : (
    <StateMark tone="calm">{texts.providers.noKey}</StateMark>
  );
}

import type { Provider } from '../../api/operator.ts';
import { Simulated } from '../../parts/simulated.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { texts } from '../../texts/index.ts';

const tones = {
  ready: 'good',
  key_rejected: 'bad',
  no_balance: 'bad',
  throttled: 'warn',
  failing: 'bad',
  paused: 'warn',
  simulated: 'simulated',
  no_key: 'calm',
} as const;

/** The provider's state, with the runs that it is read from. */
export function ProviderState({ provider: { state, simulated, recent } }: { provider: Provider }) {
  if (state === null) return <StateMark tone="waiting">{texts.providers.unknown}</StateMark>;
  if (state === 'simulated') return <Simulated />;
  const troubled = state === 'failing' ? recent.failed : state === 'throttled' ? recent.throttled : 0;
  return (
    <>
      <StateMark tone={tones[state]}>
        {texts.providers.states[state]}
        {troubled > 0 && ` ${texts.providers.ofTheLast(troubled, recent.runs)}`}
      </StateMark>{' '}
      {simulated && <Simulated />}
    </>
  );
}

import { texts } from '../texts/index.ts';
import { StateMark } from './state-mark.tsx';

/** Marks what the simulator serves in place of a provider. */
export function Simulated() {
  return (
    <span title={texts.parts.simulatedText}>
      <StateMark tone="simulated">{texts.parts.simulated}</StateMark>
    </span>
  );
}

import type { CostEstimate } from '../../api/cost-estimate.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';

/** The expected cost of the run, and its maximum. */
export function CostLine({
  estimate,
  isRefused,
}: {
  estimate: CostEstimate | undefined;
  isRefused: boolean;
}) {
  if (estimate === undefined) {
    return (
      <p className={`dimmed ${classes.cost}`}>{isRefused ? texts.model.noCost : texts.model.costPending}</p>
    );
  }
  const { expected_cents: expected, max_cents: most, basis, next } = estimate;
  return (
    <p className={`figures ${classes.cost}`} aria-live="polite">
      <strong>{texts.model.cost(dollarsOfCents(expected), basis !== 'flat')}</strong>
      {most > expected && <span className="dimmed"> {texts.model.atMost(dollarsOfCents(most))}</span>}
      {next !== undefined && (
        <span className="dimmed">
          {' '}
          {texts.model.nextCost(next.from, dollarsOfCents(next.expected_cents))}
        </span>
      )}
      {basis === 'reported' && <span className="dimmed"> {texts.model.reported}</span>}
    </p>
  );
}

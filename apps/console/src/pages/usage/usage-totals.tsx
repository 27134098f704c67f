import { dollarsOfCents } from '../../parts/money.ts';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { changeOf, shareOf } from './usage-sums.ts';
import classes from './usage-page.module.css';

interface Sum {
  runs: number;
  succeeded: number;
  cost_cents: number;
}

/** The totals of the range, each with that of the period before if there is something to compare with. */
export function UsageTotals({ total, before }: { total: Sum; before: Sum | undefined }) {
  const compared = before !== undefined && before.runs > 0 ? before : undefined;
  return (
    <dl className={`figures ${classes.totals}`}>
      {figures.map(({ name, of, written }) => (
        <div key={name}>
          <dt>{texts.usage[name]}</dt>
          <dd>{total.runs === 0 ? '–' : written(total)}</dd>
          {compared && (
            <dd className={classes.change}>
              {texts.usage.changeFrom(changeOf(of(total), of(compared)), written(compared))}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

const perRun = ({ cost_cents, runs }: Sum): number => (runs === 0 ? 0 : cost_cents / runs);

const figures = [
  {
    name: 'cost',
    of: ({ cost_cents }: Sum) => cost_cents,
    written: (sum: Sum) => dollarsOfCents(sum.cost_cents),
  },
  { name: 'runs', of: ({ runs }: Sum) => runs, written: (sum: Sum) => count(sum.runs) },
  // A change of a share in percent would be mistaken for points.
  { name: 'success', of: () => 0, written: shareOf },
  { name: 'perRun', of: perRun, written: (sum: Sum) => dollarsOfCents(perRun(sum)) },
] as const;

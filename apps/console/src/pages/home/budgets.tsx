import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Budget, budgetsQuery } from '../../api/budgets.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Meter } from '../../parts/meter.tsx';
import { Moment } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import classes from './home.module.css';
import { Entry, maxEntries, Part } from './part.tsx';

/** The budgets, fullest first. Those that limit each value have no use of their own. */
export function BudgetsPart() {
  const budgets = useQuery(budgetsQuery);
  return (
    <Part title={<Link to="/budgets">{texts.home.budgets}</Link>}>
      <Loaded query={budgets} skeleton={<TableSkeleton rows={3} />}>
        {({ data }) => (
          <>
            {data.length === 0 && <p className="dimmed">{texts.home.noBudgets}</p>}
            <ul className={classes.list}>
              {data
                .toSorted((one, other) => shareOf(other) - shareOf(one))
                .slice(0, maxEntries)
                .map((budget) => (
                  <BudgetUse key={budget.name} budget={budget} />
                ))}
            </ul>
            {data.length > maxEntries && <Link to="/budgets">{texts.home.all(data.length)}</Link>}
          </>
        )}
      </Loaded>
    </Part>
  );
}

const usedCents = ({ current: { spent_cents, reserved_cents } }: Budget): number | undefined =>
  spent_cents === undefined || reserved_cents === undefined ? undefined : spent_cents + reserved_cents;
const shareOf = (budget: Budget): number => (usedCents(budget) ?? -1) / budget.current.limit_cents;

function BudgetUse({ budget }: { budget: Budget }) {
  const used = usedCents(budget);
  const { name, current } = budget;
  const resets =
    current.resets_at === undefined ? undefined : (
      <>
        {texts.budgets.resets} <Moment at={current.resets_at} />
      </>
    );
  if (used === undefined) {
    return (
      <Entry
        name={<span className={classes.plain}>{name}</span>}
        detail={resets}
        aside={texts.home.each(dollarsOfCents(current.limit_cents))}
      />
    );
  }
  return (
    <li className={classes.budget}>
      <Meter
        label={name}
        current={used}
        limit={current.limit_cents}
        text={texts.home.budgetUse(dollarsOfCents(used), dollarsOfCents(current.limit_cents))}
      />
      {resets && <p className={classes.detail}>{resets}</p>}
    </li>
  );
}

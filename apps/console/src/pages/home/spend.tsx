import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { usageQuery } from '../../api/usage.ts';
import { workspaceQuery } from '../../api/workspace.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { useNow } from '../../parts/moment.tsx';
import { dollarsOfCents } from '../../parts/money.ts';
import { TableSkeleton } from '../../parts/skeletons.tsx';
import { texts } from '../../texts/index.ts';
import classes from './home.module.css';
import { Part } from './part.tsx';
import { firstDay, type Spend, spendOf } from './spend-of.ts';

const pollMs = 30_000;

/** Shows what was spent today and this month, day by day, and how long the credits last at that pace. */
export function SpendPart() {
  const nowMs = useNow(60_000);
  const from = firstDay(nowMs);
  const usage = useQuery({ ...usageQuery({ group_by: 'day', from }), refetchInterval: pollMs });
  return (
    <Part title={<Link to="/usage">{texts.home.spend}</Link>} isWide>
      <Loaded query={usage} skeleton={<TableSkeleton rows={4} />}>
        {({ data }) => <Figures spend={spendOf(data, nowMs)} />}
      </Loaded>
    </Part>
  );
}

function Figures({ spend: { today, month, days, centsPerDay } }: { spend: Spend }) {
  const { data: workspace } = useQuery(workspaceQuery);
  return (
    <>
      <dl className={`figures ${classes.figures}`}>
        <div>
          <dt>{texts.home.today}</dt>
          <dd>{dollarsOfCents(today.cents)}</dd>
          <dd className={classes.detail}>{texts.home.runs(today.runs)}</dd>
        </div>
        <div>
          <dt>{texts.home.month}</dt>
          <dd>{dollarsOfCents(month.cents)}</dd>
          <dd className={classes.detail}>{texts.home.runs(month.runs)}</dd>
        </div>
        {workspace && (
          <Credits
            cents={workspace.credits_cents}
            heldCents={workspace.held_cents}
            centsPerDay={centsPerDay}
          />
        )}
      </dl>
      <Bars days={days} />
    </>
  );
}

interface CreditsProps {
  cents: number | null;
  heldCents: number;
  centsPerDay: number;
}

function Credits({ cents, heldCents, centsPerDay }: CreditsProps) {
  return (
    <div>
      <dt>{texts.home.credits}</dt>
      <dd>{cents === null ? texts.parts.unlimited : dollarsOfCents(cents)}</dd>
      {cents !== null && centsPerDay > 0 ? (
        <dd className={classes.detail}>{texts.home.lasts(Math.floor(cents / centsPerDay))}</dd>
      ) : (
        heldCents > 0 && <dd className={classes.detail}>{texts.home.reserved(dollarsOfCents(heldCents))}</dd>
      )}
    </div>
  );
}

function Bars({ days }: Pick<Spend, 'days'>) {
  const highest = Math.max(...days.map(({ cents }) => cents));
  if (highest === 0) return <p className="dimmed">{texts.home.noSpend}</p>;
  return (
    <figure className={classes.chart} aria-label={texts.home.bars}>
      <div className={classes.bars} aria-hidden>
        {days.map(({ day, cents }) => (
          <div key={day} title={texts.home.bar(shortDay(day), dollarsOfCents(cents))}>
            <div style={{ height: `${(100 * cents) / highest}%` }} />
          </div>
        ))}
      </div>
      <figcaption className={classes.axis}>
        <span>{shortDay(days[0]?.day ?? '')}</span>
        <span>{texts.home.highest(dollarsOfCents(highest))}</span>
        <span>{texts.home.today}</span>
      </figcaption>
    </figure>
  );
}

const shortDay = (day: string): string =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

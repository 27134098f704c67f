import {
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { Budget } from '../../api/budgets.ts';
import type { UsageRow } from '../../api/usage.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { type UsageBar, usageBars } from './usage-bars.ts';
import type { Measure } from './usage-sums.ts';
import { isInSight, linesOf } from './usage-budgets.ts';
import { type Days, lengthOf } from './usage-range.ts';
import classes from './usage-chart.module.css';

/** Okabe and Ito's palette, which works with all common kinds of colour blindness. The last colour is for "others". */
const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c8c98'];
const maxModels = palette.length - 1;

interface UsageChartProps {
  rows: readonly UsageRow[];
  days: Days;
  measure: Measure;
  /** The days of the period before, and when it starts. */
  before: { rows: readonly UsageRow[]; from: string } | undefined;
  budgets: readonly Budget[];
}

/** Spend or runs per day, or per month of a long range, stacked by model. The table below has the same numbers. */
export function UsageChart({ rows, days, measure, before, budgets }: UsageChartProps) {
  const { unit, names, bars, highest } = usageBars(rows, days, { measure, maxModels }, before);
  const hasBefore = bars[0]?.before !== undefined;
  const lines = measure === 'runs' ? [] : linesOf(budgets, unit);
  const written = measure === 'runs' ? count : dollarsOfCents;
  return (
    <figure className={classes.figure} aria-label={texts.usage.chart}>
      <div className={classes.chart} aria-hidden>
        <ResponsiveContainer width="100%" height="100%">
          <ComposedChart
            data={bars}
            margin={{ top: 8, right: 0, bottom: 0, left: 0 }}
            barCategoryGap="18%"
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} stroke="var(--hairline)" />
            <XAxis
              dataKey="start"
              tickFormatter={shortOf}
              tickLine={false}
              axisLine={false}
              minTickGap={24}
            />
            <YAxis
              width={56}
              tickLine={false}
              axisLine={false}
              tickFormatter={(value: number) =>
                measure === 'runs' ? count(value) : `$${count(value / 100)}`
              }
            />
            <Tooltip
              cursor={{ fill: 'var(--surface-sunken)' }}
              isAnimationActive={false}
              content={<Detail written={written} />}
            />
            {names.map((name, at) => (
              <Bar
                key={name}
                dataKey={(bar: UsageBar) => bar.values[name] ?? 0}
                name={name}
                stackId="all"
                fill={palette[at]}
                isAnimationActive={false}
              />
            ))}
            {hasBefore && (
              <Line
                dataKey="before"
                name={texts.usage.before(lengthOf(days))}
                stroke="var(--mantine-color-dimmed)"
                strokeOpacity={0.7}
                strokeWidth={1.5}
                dot={false}
                activeDot={false}
                isAnimationActive={false}
              />
            )}
            {lines
              .filter((line) => isInSight(line, highest))
              .map(({ name, limitCents }) => (
                <ReferenceLine
                  key={name}
                  y={limitCents}
                  ifOverflow="extendDomain"
                  stroke="var(--bad)"
                  strokeDasharray="6 4"
                />
              ))}
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <figcaption className={classes.legend}>
        {names.map((name, at) => (
          <span key={name}>
            <svg width={10} height={10} aria-hidden>
              <rect width={10} height={10} rx={2} fill={palette[at]} />
            </svg>
            {name}
          </span>
        ))}
        {hasBefore && (
          <span>
            <Stroke color="var(--mantine-color-dimmed)" />
            {texts.usage.before(lengthOf(days))}
          </span>
        )}
        {lines.map((line) => (
          <span key={line.name}>
            <Stroke color="var(--bad)" dashes="4 2" />
            {texts.usage.budgetLine[unit](line.name, dollarsOfCents(line.limitCents), line.timeZone)}
            {!isInSight(line, highest) && ` ${texts.usage.aboveChart}`}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const Stroke = ({ color, dashes }: { color: string; dashes?: string }) => (
  <svg width={16} height={10} aria-hidden>
    <line x1={0} x2={16} y1={5} y2={5} stroke={color} strokeWidth={2} strokeDasharray={dashes} />
  </svg>
);

interface DetailProps {
  written: (value: number) => string;
  /** The chart sets these when the pointer is over a bar. */
  active?: boolean;
  label?: string;
  payload?: readonly { dataKey?: unknown; name?: unknown; value?: unknown }[];
}

function Detail({ written, active = false, label, payload = [] }: DetailProps) {
  if (!active) return null;
  const all = payload.filter(({ value }) => Number(value) > 0);
  const used = all.filter(({ dataKey }) => dataKey !== 'before');
  const before = all.find(({ dataKey }) => dataKey === 'before');
  return (
    <div className={`figures ${classes.detail}`}>
      <strong>
        {label !== undefined && longOf(label)}
        <span>{written(used.reduce((sum, { value }) => sum + Number(value), 0))}</span>
      </strong>
      {used.toReversed().map(({ name, value }) => (
        <div key={String(name)}>
          <span>{String(name)}</span>
          <span>{written(Number(value))}</span>
        </div>
      ))}
      {before && (
        <div className="dimmed">
          <span>{String(before.name)}</span>
          <span>{written(Number(before.value))}</span>
        </div>
      )}
    </div>
  );
}

const inUtc = (start: string, style: Intl.DateTimeFormatOptions): string =>
  new Date(start).toLocaleDateString('en-GB', { ...style, timeZone: 'UTC' });
const shortOf = (start: string): string =>
  inUtc(start, start.length === 7 ? { month: 'short', year: '2-digit' } : { day: 'numeric', month: 'short' });
const longOf = (start: string): string =>
  start.length === 7 ? inUtc(start, { month: 'long', year: 'numeric' }) : start;

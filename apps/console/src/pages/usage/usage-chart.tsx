import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { dollarsOfCents } from '../../parts/money.ts';
import { count } from '../../parts/quantities.ts';
import { texts } from '../../texts/index.ts';
import { type Measure, sums, type UsageRow } from './usage-data.ts';
import { everyDay } from './usage-range.ts';
import classes from './usage-chart.module.css';

/** Okabe and Ito's palette, which works with all common kinds of colour blindness. The last colour is for "others". */
const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c8c98'];
const maxModels = palette.length - 1;

interface UsageChartProps {
  rows: readonly UsageRow[];
  days: { from: string; to: string };
  measure: Measure;
}

/** Daily spend or runs, stacked by model. The table below has the same numbers. */
export function UsageChart({ rows, days, measure }: UsageChartProps) {
  const { names, bars } = stacked(rows, days, measure);
  const written = measure === 'runs' ? count : dollarsOfCents;
  return (
    <figure className={classes.figure} aria-label={texts.usage.chart}>
      <div className={classes.chart} aria-hidden>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            data={bars}
            margin={{ top: 8, right: 0, bottom: 0, left: 0 }}
            barCategoryGap="18%"
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} stroke="var(--hairline)" />
            <XAxis dataKey="day" tickFormatter={shortDay} tickLine={false} axisLine={false} minTickGap={24} />
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
                dataKey={(bar: StackedDay) => bar.values[name] ?? 0}
                name={name}
                stackId="all"
                fill={palette[at]}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
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
      </figcaption>
    </figure>
  );
}

interface StackedDay {
  day: string;
  values: Record<string, number>;
}

function stacked(rows: readonly UsageRow[], days: UsageChartProps['days'], measure: Measure) {
  const ranked = sums(rows, ({ model = '' }) => model).sort((one, other) => other[measure] - one[measure]);
  const own = new Set(ranked.slice(0, maxModels).map(({ name }) => name));
  const names = [...own, ...(ranked.length > own.size ? [texts.usage.others] : [])];
  const bars = new Map<string, StackedDay>(everyDay(days).map((day) => [day, { day, values: {} }]));
  for (const { day = '', model = '', ...row } of rows) {
    const values = bars.get(day)?.values;
    const name = own.has(model) ? model : texts.usage.others;
    if (values) values[name] = (values[name] ?? 0) + row[measure];
  }
  return { names, bars: [...bars.values()] };
}

interface DetailProps {
  written: (value: number) => string;
  /** The chart sets these when the pointer is over a bar. */
  active?: boolean;
  label?: string;
  payload?: readonly { name?: unknown; value?: unknown }[];
}

function Detail({ written, active = false, label, payload = [] }: DetailProps) {
  if (!active) return null;
  const used = payload.filter(({ value }) => Number(value) > 0);
  return (
    <div className={`figures ${classes.detail}`}>
      <strong>
        {label}
        <span>{written(used.reduce((sum, { value }) => sum + Number(value), 0))}</span>
      </strong>
      {used.toReversed().map(({ name, value }) => (
        <div key={String(name)}>
          <span>{String(name)}</span>
          <span>{written(Number(value))}</span>
        </div>
      ))}
    </div>
  );
}

const shortDay = (day: string): string =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

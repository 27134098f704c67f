import { filesBelow, textOf } from '../../documents/checkout-files.js';
import { installation, type Prometheus, type Sample } from '../../harness/prometheus.js';

/**
 * The values that a query must show, by the values of its labels in the order of their names.
 *
 * - `counts`: events since the beginning; the query shows their rate, or their increase.
 * - `values`: a gauge, and by how much it may differ.
 * - `samples`: seconds of which the query shows a quantile; it may be off by a bucket, and by `factor` beyond that. With
 *   `atMost`, the other side measured a part that ours does not have, and each side's own turn may be late.
 * - `bounds`: the lowest and the highest possible value, where nothing else can know more.
 * - `total`: the sum of the values whose labels match.
 */
export type Expected =
  | { counts: Record<string, number>; per?: 'hour' }
  | { values: Record<string, number>; within?: number }
  | { samples: Record<string, readonly number[]>; factor?: number; atMost?: true }
  | { bounds: Record<string, readonly [number, number]> }
  | { total: number; of: RegExp; within: number };

interface Panel {
  name: string;
  queries: { expr?: string; rawSql?: string }[];
}

/** Every panel of the committed dashboards, as `dashboard: title`. Equal titles are numbered. */
export function committedPanels(): Panel[] {
  interface Raw {
    title: string;
    targets?: Panel['queries'];
    panels?: Raw[];
  }
  const seen = new Map<string, number>();
  return filesBelow('monitoring/dashboards').flatMap((file) => {
    const { panels } = JSON.parse(textOf(file)) as { panels: Raw[] };
    return panels
      .flatMap((panel) => [panel, ...(panel.panels ?? [])])
      .filter(({ targets = [] }) => targets.length > 0)
      .map(({ title, targets = [] }) => {
        const name = `${file.replace(/^.*\/|\.json$/g, '')}: ${title}`;
        seen.set(name, (seen.get(name) ?? 0) + 1);
        const nth = seen.get(name) ?? 1;
        return { name: nth === 1 ? name : `${name} (${nth})`, queries: targets };
      });
  });
}

/** A period in seconds since 1970. */
export interface Period {
  from: number;
  to: number;
}

/** An expression with Grafana's variables filled in, so that rates and ranges span the period. */
function filledIn(expression: string, { from, to }: Period): string {
  const window = `${Math.round((to - from) * 1000)}ms`;
  const variables = { ...installation, __rate_interval: window, __range: window, provider: 'bfl' };
  return Object.entries(variables).reduce(
    (text, [variable, value]) => text.replaceAll(`$${variable}`, value),
    expression,
  );
}

/** The values that a query shows over the period, by the values of its labels. */
export async function shown(
  prometheus: Prometheus,
  expression: string,
  period: Period,
): Promise<Map<string, number>> {
  const found = await prometheus.query(filledIn(expression, period), period.to);
  return new Map(found.map((sample) => [keyOf(sample), Number(sample.value[1])]));
}

const keyOf = ({ metric }: Sample): string =>
  Object.entries(metric)
    .filter(([label]) => !(label in installation))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, value]) => value)
    .join(' ');

/** How the shown values differ from the expected ones; empty if they do not. */
export function differences(
  values: ReadonlyMap<string, number>,
  expression: string,
  expected: Expected,
  { from, to }: Period,
): string[] {
  if (values.size === 0 || [...values.values()].every((value) => Number.isNaN(value))) return ['no data'];
  const value = (key: string): number => values.get(key) ?? Number.NaN;
  const wrong = (key: string, what: unknown) =>
    `${key || 'the value'} is ${value(key)}, expected ${String(what)}`;
  if ('counts' in expected) {
    const perSecond = expression.includes('increase(') ? 1 : to - from;
    const scale = expected.per === 'hour' ? perSecond / 3600 : perSecond;
    const all = { ...Object.fromEntries([...values.keys()].map((key) => [key, 0])), ...expected.counts };
    // A rate is extrapolated to the ends of the period, further if a busy machine delays a scrape.
    return Object.entries(all).flatMap(([key, count]) =>
      Math.abs((values.get(key) ?? 0) * scale - count) <= Math.max(0.5 * smallest(all), 0.08 * count)
        ? []
        : [`${key || 'the count'} is ${(values.get(key) ?? 0) * scale}, expected ${count}`],
    );
  }
  if ('values' in expected) {
    const unknown = [...values.keys()].filter((key) => !(key in expected.values) && value(key) !== 0);
    return [
      ...unknown.map((key) => wrong(key, 'nothing')),
      ...Object.entries(expected.values).flatMap(([key, count]) =>
        Math.abs((values.get(key) ?? 0) - count) <= (expected.within ?? 1e-6) ? [] : [wrong(key, count)],
      ),
    ];
  }
  if ('total' in expected) {
    const sum = [...values].reduce((total, [key, each]) => total + (expected.of.test(key) ? each : 0), 0);
    const isRight = Math.abs(sum - expected.total) <= expected.within;
    return isRight ? [] : [`the sum is ${sum}, expected ${expected.total}`];
  }
  if ('bounds' in expected)
    return Object.entries(expected.bounds).flatMap(([key, [low, high]]) =>
      value(key) >= low && value(key) <= high ? [] : [wrong(key, `${low} to ${high}`)],
    );
  const quantile = Number(/histogram_quantile\(([\d.]+)/.exec(expression)?.[1]);
  return Object.entries(expected.samples).flatMap(([key, samples]) => {
    if (samples.length === 0) return [];
    const sorted = samples.toSorted((one, other) => one - other);
    const nth = Math.min(sorted.length - 1, Math.floor(quantile * sorted.length));
    const factor = 2.5 * (expected.factor ?? 1);
    // The neighbours count too, because the quantile may lie between two samples.
    const near = Math.ceil(sorted.length / 10);
    const low = expected.atMost ? 0 : (sorted[Math.max(0, nth - near)] ?? 0) / factor;
    const high = Math.max(
      expected.atMost ? 0.1 : 0.01,
      (sorted[Math.min(sorted.length - 1, nth + near)] ?? 0) * factor,
    );
    return value(key) >= low && value(key) <= high ? [] : [wrong(key, `${low} to ${high}`)];
  });
}

/** Counts of events are whole numbers, sums of money are not. */
const smallest = (counts: Record<string, number>): number =>
  Object.values(counts).every((count) => Number.isInteger(count)) ? 1 : 0.02;

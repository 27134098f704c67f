import type { Price } from './price.js';
import type { Factor } from './price-factors.js';

/** A price in one line, for people: `$0.1 × duration × resolution (1 to 2) + $0.03`. */
export const priceText = (price: Price): string => [price, ...price.plus].map(termText).join(' + ');

/** The minimum price of one unit, and the unit: those of the first term whose cheapest options are not free. */
export function priceFrom(price: Price): { usd: number; unit: string } {
  const terms = [price, ...price.plus].map(({ usd, times }) => ({
    // Removes the error of binary fractions: 0.28 × 5 must be 1.4.
    usd: Number(times.reduce((product, factor) => product * smallestOf(factor), usd).toPrecision(12)),
    unit:
      times
        .filter((factor) => !('table' in factor))
        .map(unitOf)
        .join(' × ') || 'run',
  }));
  return terms.find(({ usd }) => usd > 0) ?? { usd: 0, unit: 'run' };
}

/** The smallest factor of one unit. Values that make the term free are ignored. */
const smallestOf = (factor: Factor): number => {
  if ('table' in factor) return Math.min(...Object.values(factor.values).filter((value) => value > 0));
  if ('present' in factor) return factor.each;
  return 'per' in factor ? 1 / factor.per : 1;
};

const unitOf = (factor: Factor): string => {
  if ('present' in factor) return factorText({ present: factor.present, each: 1 });
  return factorText({ ...factor, ...('per' in factor && { per: 1 }) });
};

/** The places of the cost in a reply, such as `$0.01 × /cost`. Empty if there are none. */
export const reportedText = (price: Price): string =>
  price.reported
    .map((term) => {
      const place = 'header' in term ? term.header : 'count' in term ? `count of ${term.count}` : term.at;
      return `${dollars(term.usd)} × ${[place, ...term.times.map(factorText)].join(' × ')}`;
    })
    .join(' + ');

const termText = ({ usd, times }: { usd: number; times: Factor[] }): string =>
  [dollars(usd), ...times.map(factorText)].join(' × ');

const dollars = (usd: number): string => `$${number(usd)}`;

const number = (value: number): string =>
  value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 12 });

function factorText(factor: Factor): string {
  if ('number' in factor) return less(`${name(factor.number)}${per(factor)}`, factor);
  if ('megapixels' in factor) return less('megapixels', factor);
  if ('characters' in factor) return `characters of ${name(factor.characters)}${per(factor)}`;
  if ('tokens' in factor) return `tokens of ${name(factor.tokens)}`;
  if ('present' in factor) {
    const [first = '', ...others] = factor.present.map(name);
    return `number of ${first}${others.length === 0 ? '' : ` and ${others.length} more`}${each(factor)}`;
  }
  if ('absent' in factor) return `without ${factor.absent.map(name).join(' and ')}`;
  const values = Object.values(factor.values);
  return `${name(factor.table)} (${number(Math.min(...values))} to ${number(Math.max(...values))})`;
}

const per = (factor: { per: number }): string => (factor.per === 1 ? '' : ` / ${factor.per}`);

const each = ({ each: min, max_each: max = min }: { each: number; max_each?: number }): string => {
  if (min === 1 && max === 1) return '';
  return ` (${min === max ? '' : `${number(min)} to `}${number(max)} each)`;
};

const less = (units: string, { minus }: { minus: number }): string =>
  minus === 0 ? units : `(${units} - ${number(minus)})`;

const name = (pointer: string): string => pointer.slice(pointer.lastIndexOf('/') + 1) || 'the input';

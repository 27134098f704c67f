import type { JsonSchema } from '#catalog';
import { branchesOf, listedValues, plain } from './schema-facts.js';
import { pricedFields } from './fal-priced-fields.js';
import { today } from './draft.js';

/** A price as fal's platform API publishes it. */
export interface UnitPrice {
  unit_price: number;
  unit: string;
  currency: string;
}

type Factor = Record<string, unknown>;

interface Task {
  input: JsonSchema;
  category: string | undefined;
  source: string;
  /** The upper bound that the operator gives, in US cents, used if the input does not give one. */
  maxCents: number | undefined;
}

/** The price of a row, and what made its bound larger; or the reason why the model cannot be priced. */
export function falPrice(
  published: UnitPrice | undefined,
  task: Task,
): { price: Record<string, unknown>; bounded?: string } | { skipped: string } {
  const { maxCents, source } = task;
  const limited = maxCents === undefined ? undefined : maxCents / 100;
  if (published === undefined) {
    if (limited === undefined) return { skipped: 'fal publishes no price: give --max-cents' };
    return { price: { usd: limited, source: 'the operator’s --max-cents', date: today() } };
  }
  const { unit_price: usd, unit, currency } = published;
  if (currency.toUpperCase() !== 'USD') return { skipped: `the price is in ${currency}, not in USD` };
  const factsWith = (remark?: string) => ({
    reported: [{ header: 'x-fal-billable-units', usd }],
    source: [`${source}: ${usd} dollars per ${unit}`, ...(remark === undefined ? [] : [remark])].join('; '),
    date: today(),
  });
  const times = factorsOf(unit, task);
  const { multiplied, open } = pricedFields(task.input, countedBy(times ?? []));
  if (times !== undefined && open.length === 0) {
    const all = [...times, ...multiplied.map(({ max }) => ({ present: [''], each: 1, max_each: max }))];
    const reasons = multiplied.map(({ name, max }) => `${name} (up to ${max} times)`);
    const bounded = reasons.length === 0 ? undefined : `the bound allows for ${listed(reasons)}`;
    const price = { usd, ...(all.length > 0 && { times: all }), ...factsWith(bounded) };
    return { price, ...(bounded !== undefined && { bounded }) };
  }
  const reason =
    times === undefined
      ? `the input does not bound a price per ${unit}`
      : `fal prices by ${listed(open)}, but does not publish how much`;
  if (limited === undefined) return { skipped: `${reason}: give --max-cents` };
  const bounded = `--max-cents is the bound, because ${reason}`;
  return { price: { usd: limited, ...factsWith(bounded) }, bounded };
}

const listed = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

/** The top-level fields that the factors count. */
const countedBy = (times: readonly Factor[]): Set<string> =>
  new Set(
    times
      .flatMap((factor) => Object.values(factor).flat())
      .flatMap((value) => {
        const [, name] = /^\/([^/]+)/.exec(String(value)) ?? [];
        return name ?? [];
      }),
  );

/** The factors of a unit. Undefined if the input does not bound the number of units. */
function factorsOf(unit: string, task: Task): Factor[] | undefined {
  const { input, category = '' } = task;
  const name = unit.toLowerCase().trim().replace(/s$/, '');
  const images = counted(input, ['num_images', 'num_outputs', 'num_samples', 'max_images']);
  const videos = counted(input, ['num_videos']);
  if (name === 'image') return images;
  if (name === 'megapixel' || name === 'mp') {
    const size = /video/.test(category) ? undefined : megapixels(input);
    return size && images && [size, ...images];
  }
  if (name === 'second' || name === 'video second') {
    const [seconds] = counted(input, ['duration', 'duration_seconds', 'seconds_total']) ?? [];
    return seconds && videos && [seconds, ...videos];
  }
  const characters = /^(1,?000 |1k |thousand )?character$/.exec(name);
  if (characters) {
    const text = textField(input);
    const per = characters[1] === undefined ? 1 : 1000;
    return text === undefined ? undefined : [{ characters: text, per }];
  }
  if (name === 'video') return videos;
  return /^(request|generation|call|run|edit|song|audio|api call)$/.test(name) ? [] : undefined;
}

/** A factor for each of these fields that the input has. Undefined if one of them has no bound. */
function counted(input: JsonSchema, names: readonly string[]): Factor[] | undefined {
  const { properties = {}, required = [] } = plain(input);
  const factors = names.flatMap((name) => {
    const schema = properties[name];
    return schema === undefined ? [] : [numberFactor(name, schema, required.includes(name))];
  });
  return factors.every((each) => each !== undefined) ? factors : undefined;
}

/** The factor of a number, or of a text such as "8s". */
function numberFactor(name: string, schema: JsonSchema, isRequired: boolean): Factor | undefined {
  const facts = plain(schema);
  const values = listedValues(schema);
  const listed = values.map(numberIn);
  const known = [...listed, facts.maximum].filter((value) => value !== undefined);
  const largest = known.length === 0 ? undefined : Math.max(...known);
  const usual = numberIn(schema.default ?? facts.default);
  // With a word such as "auto", or a null, the provider chooses.
  const isOpen = listed.includes(undefined) && values.length > 0;
  if (usual !== undefined && !isOpen) return { number: `/${name}`, default: usual };
  if (largest !== undefined) return { number: `/${name}`, default: usual ?? largest, max: largest };
  return isRequired && facts.type !== 'string' ? { number: `/${name}` } : undefined;
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d+(\.\d+)?s?$/.test(value) ? Number.parseFloat(value) : undefined;
}

/** fal's named sizes, each at most 1,048,576 pixels. */
const namedSizes = new Set([
  'square_hd',
  'square',
  'portrait_4_3',
  'portrait_16_9',
  'landscape_4_3',
  'landscape_16_9',
]);

function megapixels(input: JsonSchema): Factor | undefined {
  const { properties = {} } = plain(input);
  const { image_size: size, width, height } = properties;
  if (size !== undefined) {
    const names = listedValues(size);
    const takesSides = branchesOf(size).some(
      (each) => each.properties?.['width'] && each.properties['height'],
    );
    const isKnown = names.length > 0 && names.every((each) => namedSizes.has(String(each)));
    // Without a default, fal takes the size from another field, such as an image.
    if (!takesSides || !isKnown || (size.default ?? null) === null) return undefined;
    return { megapixels: ['/image_size/width', '/image_size/height'], default: 1, max: 2, min: 1 };
  }
  const [usualWidth, usualHeight] = [width, height].map((side) =>
    numberIn(side && (side.default ?? plain(side).default)),
  );
  // If the input has one side only, the upper bound takes 1024 pixels for the other.
  if (usualWidth === undefined || usualHeight === undefined) return undefined;
  if (Math.max(usualWidth, usualHeight) > 1024) return undefined;
  const usual = Math.max(1, Math.ceil((usualWidth * usualHeight) / 1_000_000));
  return { megapixels: ['/width', '/height'], default: usual, min: 1 };
}

/** The required text of the input, by which speech is billed. */
function textField(input: JsonSchema): string | undefined {
  const { properties = {}, required = [] } = plain(input);
  const found = ['text', 'prompt', 'input', 'gen_text', 'script'].find(
    (name) => required.includes(name) && plain(properties[name] ?? {}).type === 'string',
  );
  return found === undefined ? undefined : `/${found}`;
}

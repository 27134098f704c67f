import type { JsonSchema } from '#catalog';
import { branchesOf, listedValues, plain } from './schema-facts.js';

/** Words in the names of fields by which fal adjusts its base price. */
const pricedWords =
  /(^|_)(resolution|quality|mode|audio|sound|fps|frames_per_second|frame_rate|size|rendering_speed|upscale_factor|scale_factor|duration|num_frames|seconds_total)(_|$)/;

/** Fields with such a word that change how a result is delivered, or that name a file. */
const otherFields = /^(sync_mode|.*_(urls?|format))$/;

interface PricedFields {
  /** Fields whose description says how many times the base price a value costs at most. */
  multiplied: { name: string; max: number }[];
  /** Fields by which fal prices without saying how much. */
  open: string[];
}

/** The fields of an input that change what fal bills for a unit, except those that are counted already. */
export function pricedFields(input: JsonSchema, counted: ReadonlySet<string>): PricedFields {
  const found: PricedFields = { multiplied: [], open: [] };
  for (const [name, schema] of Object.entries(plain(input).properties ?? {})) {
    if (counted.has(name)) continue;
    const max = publishedMultiplier(schema);
    if (max !== undefined) found.multiplied.push({ name, max });
    else if (pricedWords.test(name) && !otherFields.test(name) && hasChoice(schema)) found.open.push(name);
  }
  return found;
}

/** Whether callers can choose between values, other than any text. */
function hasChoice(schema: JsonSchema): boolean {
  const values = listedValues(schema);
  if (values.length > 0) return new Set(values).size > 1 || takesSides(schema);
  const { type } = plain(schema);
  return type === 'boolean' || type === 'integer' || type === 'number' || takesSides(schema);
}

/** Whether the value may be a size in pixels. */
const takesSides = (schema: JsonSchema): boolean =>
  branchesOf(schema).some(({ properties }) => properties?.['width'] !== undefined);

const words: Readonly<Record<string, number>> = { double: 2, twice: 2, triple: 3 };
const costs = /\b(?:costs?|charged|billed|priced?)\b/i;

/** The largest multiple of the base price that the descriptions of a field name, such as "costs 2X as much". */
function publishedMultiplier(schema: JsonSchema): number | undefined {
  const multiples = branchesOf(schema)
    .flatMap(({ description = '' }) => description.split(/(?<=[.!?])\s/))
    .filter((sentence) => costs.test(sentence))
    .flatMap((sentence) =>
      [...sentence.matchAll(/(\d+(?:\.\d+)?) ?(?:x|×|times)(?!\w)|\b(double|twice|triple)\b/gi)].map(
        ([, number, word = '']) => (number === undefined ? words[word.toLowerCase()] : Number(number)),
      ),
    )
    .filter((multiple) => multiple !== undefined);
  return multiples.length === 0 ? undefined : Math.max(1, ...multiples);
}

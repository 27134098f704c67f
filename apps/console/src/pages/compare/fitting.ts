import type { Schema } from '../../api/model-document.ts';

/**
 * A value as a field of another model takes it, in that field's notation: `5`, `"5"` and `"5s"`, `16:9` and `16x9`,
 * `1080p` and `1080P` are the same. Undefined if the field doesn't take it.
 */
export function fitting(schema: Schema, value: unknown): unknown {
  for (const variant of [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    for (const notation of notationsOf(value)) {
      const found = fittingNotation(variant, notation);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function notationsOf(value: unknown): unknown[] {
  if (typeof value === 'number') return [value, String(value), `${value}s`];
  if (typeof value !== 'string') return [value];
  const number = /^(\d+(?:\.\d+)?)s?$/.exec(value)?.[1];
  const others = number === undefined ? [] : [Number(number), number, `${number}s`];
  const pair = /^(\d+)([:x*])(\d+)$/.exec(value);
  if (pair !== null) others.push(...[':', 'x', '*'].map((sign) => `${pair[1]}${sign}${pair[3]}`));
  return [value, ...others];
}

const plain = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toLowerCase();

function fittingNotation(schema: Schema, value: unknown): unknown {
  const { enum: choices, type, pattern, minimum, maximum, items } = schema;
  if (choices !== undefined) {
    const wanted = plain(value);
    return choices.find((each) => each !== null && plain(each) === wanted);
  }
  if (schema.const !== undefined) return undefined;
  const types = [type].flat();
  if (typeof value === 'string') {
    return types.includes('string') && (pattern === undefined || new RegExp(pattern, 'u').test(value))
      ? value
      : undefined;
  }
  if (typeof value === 'number') {
    const isType = types.includes('number') || (types.includes('integer') && Number.isInteger(value));
    return isType && value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity) ? value : undefined;
  }
  if (typeof value === 'boolean') return types.includes('boolean') ? value : undefined;
  if (Array.isArray(value)) {
    if (!types.includes('array')) return undefined;
    const list: unknown[] = value;
    const fit = list.map((each) => (items === undefined ? each : fitting(items, each)));
    return fit.includes(undefined) ? undefined : fit;
  }
  // The service checks what an object holds.
  return types.includes('object') ? value : undefined;
}

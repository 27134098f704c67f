import { valueAt } from '#schemas';
import type { Model } from './model.js';
import type { Price } from './price.js';

/** The upper bound that admission reserves for this input: an integer of micro-dollars. */
export function upperBoundMicros(model: Model, parsedBody: unknown): number {
  // An unauthored model takes any number; the cap keeps the sum exact whatever it is.
  return Math.min(Math.ceil(exactMicros(model.price, parsedBody)), Number.MAX_SAFE_INTEGER);
}

function exactMicros({ call, unit, text, table, area }: Price, body: unknown): number {
  if (unit !== undefined) return amountAt(body, unit) * unit.micros;
  if (text !== undefined) return bytesAt(body, text.pointer) * text.micros_per_byte;
  if (table !== undefined) return tableMicros(table, body);
  if (area !== undefined) {
    const pixels = amountAt(body, area.width) * amountAt(body, area.height);
    const megapixels = Math.max(area.least_megapixels, Math.ceil(pixels / 1_000_000));
    const count = area.count === undefined ? 1 : amountAt(body, area.count);
    return megapixels * area.micros_per_megapixel * count;
  }
  return call ?? 0;
}

function tableMicros(table: NonNullable<Price['table']>, body: unknown): number {
  const given = valueAt(body, table.pointer) ?? table.default;
  const key = typeof given === 'string' || typeof given === 'number' ? String(given) : '';
  // A value that the table does not know must not be cheaper than one it knows.
  return Object.hasOwn(table.micros, key)
    ? (table.micros[key] ?? 0)
    : Math.max(...Object.values(table.micros));
}

function bytesAt(body: unknown, pointer: string): number {
  const value = valueAt(body, pointer);
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}

function amountAt(body: unknown, amount: { pointer: string; default: number }): number {
  const value = valueAt(body, amount.pointer);
  return typeof value === 'number' && value > 0 ? value : amount.default;
}

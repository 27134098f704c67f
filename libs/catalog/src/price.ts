import { valueAt } from '#schemas';
import { z } from 'zod';

const micros = z.int().min(0);
const pointer = z.string().regex(/^(\/[^/]+)+$/, 'a JSON pointer such as /num_images');
const amount = z.strictObject({ pointer, default: z.number().positive() });

/**
 * The most one run can cost, in micro-dollars, by one of five forms: a fixed amount a call; an amount a unit
 * of a numeric input; an amount a byte of a text in UTF-8, of which partners count the characters, never more;
 * a table by an enumerated input; an amount a started megapixel of the picture asked for.
 * `default` is what the partner assumes when the caller leaves the input out.
 */
export const price = z
  .strictObject({
    call: micros.optional(),
    unit: amount.extend({ micros }).optional(),
    text: z.strictObject({ pointer, micros_per_byte: micros }).optional(),
    table: z
      .strictObject({ pointer, micros: z.record(z.string(), micros), default: z.string() })
      .refine((table) => Object.hasOwn(table.micros, table.default), {
        message: 'default is a key of micros',
      })
      .optional(),
    area: z
      .strictObject({
        width: amount,
        height: amount,
        micros_per_megapixel: micros,
        least_megapixels: z.int().positive(),
        count: amount.optional(),
      })
      .optional(),
  })
  .refine((forms) => Object.values(forms).filter((form) => form !== undefined).length === 1, {
    message: 'exactly one of call, unit, text, table, area',
  });

export type Price = z.infer<typeof price>;

/** The inputs a price reads: each must be declared by the input schema. */
export function pricePointers({ unit, text, table, area }: Price): string[] {
  return [
    unit?.pointer,
    text?.pointer,
    table?.pointer,
    area?.width.pointer,
    area?.height.pointer,
    area?.count?.pointer,
  ].filter((pointer) => pointer !== undefined);
}

/** The upper bound that admission reserves for this input: an integer of micro-dollars. */
export function upperBoundMicros({ price }: { price: Price }, parsedBody: unknown): number {
  // An unauthored model takes any number; the cap keeps the sum exact whatever it is.
  return Math.min(Math.ceil(exactMicros(price, parsedBody)), Number.MAX_SAFE_INTEGER);
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

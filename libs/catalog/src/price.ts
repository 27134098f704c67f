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

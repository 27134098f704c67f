import { z } from 'zod';

const micros = z.int().min(0);
const amount = z.strictObject({ pointer: z.string(), default: z.number().positive() });

/** The price forms of rows that are not converted yet, as expressions. */
export const legacyPrice = z
  .union([
    z.strictObject({ call: micros }).transform(({ call }) => ({ usd: call / 1e6 })),
    z.strictObject({ unit: amount.extend({ micros }) }).transform(({ unit }) => ({
      usd: unit.micros / 1e6,
      times: [{ number: unit.pointer, default: unit.default }],
    })),
    z
      .strictObject({ text: z.strictObject({ pointer: z.string(), micros_per_byte: micros }) })
      .transform(({ text }) => ({
        usd: text.micros_per_byte / 1e6,
        times: [{ characters: text.pointer, most: 3 }],
      })),
    z
      .strictObject({
        table: z.strictObject({
          pointer: z.string(),
          micros: z.record(z.string(), micros),
          default: z.string(),
        }),
      })
      .transform(({ table }) => ({
        usd: 1e-6,
        times: [{ table: table.pointer, values: table.micros, default: table.default }],
      })),
    z
      .strictObject({
        area: z.strictObject({
          width: amount,
          height: amount,
          micros_per_megapixel: micros,
          least_megapixels: z.int().positive(),
          count: amount.optional(),
        }),
      })
      .transform(({ area }) => ({
        usd: area.micros_per_megapixel / 1e6,
        times: [
          {
            megapixels: [area.width.pointer, area.height.pointer],
            default: Math.max(
              area.least_megapixels,
              Math.ceil((area.width.default * area.height.default) / 1e6),
            ),
            min: area.least_megapixels,
          },
          ...(area.count ? [{ number: area.count.pointer, default: area.count.default }] : []),
        ],
      })),
  ])
  .meta({ deprecated: true });

import type { ModelEntry } from '../../api/models.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';

const { units } = texts.models;

/** Maps the start of a unit's name to the display unit and its size, such as a million tokens. */
const scales: readonly [start: string, count: number, name: string][] = [
  ['run', 1, units.run],
  ['tokens', 1_000_000, units.tokens],
  ['characters', 1000, units.characters],
  ['music_length_ms', 60_000, units.minute],
  ['duration', 1, units.second],
  ['number of video', 1, units.video],
  ['number of image', 1, units.image],
  ['num_images', 1, units.image],
  ['num_outputs', 1, units.image],
  ['sampleCount', 1, units.second],
  ['megapixels', 1, units.megapixel],
];

/** A model's lowest price, in its display unit. */
export function priceFrom({ from_usd: usd, unit }: ModelEntry['price']): string {
  const [, count, name] = scales.find(([start]) => unit.startsWith(start)) ?? [unit, 1, units.other];
  return texts.models.from(dollarsOfCents(usd * 100 * count), name);
}

import type { ModelEntry } from '../../api/models.ts';
import { dollarsOfCents } from '../../parts/money.ts';
import { texts } from '../../texts/index.ts';

const { units } = texts.models;

/** Maps the start of a unit's name to the display unit and its size, such as a million tokens. */
const scales: readonly [start: string, count: number, name: string][] = [
  ['run', 1, units.run],
  ['number of image', 1, units.image],
  ['num_images', 1, units.image],
  ['num_outputs', 1, units.image],
  ['megapixels', 1, units.megapixel],
  ['number of video', 1, units.video],
  ['duration', 1, units.second],
  ['sampleCount', 1, units.second],
  ['music_length_ms', 60_000, units.minute],
  ['characters', 1000, units.characters],
  ['tokens', 1_000_000, units.tokens],
];

/**
 * A model's lowest price for its display unit. Prices of different units can't be compared, so each unit has its own
 * group.
 */
export function displayPrice({ from_usd: usd, unit }: ModelEntry['price']) {
  const group = scales.findIndex(([start]) => unit.startsWith(start));
  const [, count, name] = scales[group] ?? [unit, 1, units.other];
  return { group: group < 0 ? scales.length : group, usd: usd * count, unit: name };
}

/** A model's lowest price as text. */
export function priceFrom(price: ModelEntry['price']): string {
  const { usd, unit } = displayPrice(price);
  return texts.models.from(dollarsOfCents(usd * 100), unit);
}

import { images } from './images.js';
import { models3d } from './models-3d.js';
import type { Bill, PriceList } from './order.js';
import { seedance } from './seedance.js';
import { texts } from './texts.js';
import { videos } from './videos.js';

/**
 * The providers' public prices, written from the sources that the catalog's rows cite, not from the rows. Shares no
 * code with them, so that both don't miss the same part of a price.
 */
const priceList: PriceList = { ...texts, ...images, ...videos, ...seedance, ...models3d };

const patterns = Object.entries(priceList).map(([ids, bill]) => ({
  // An exact ID beats a pattern, and a longer pattern beats a shorter one.
  weight: ids.includes('*') ? ids.length : Infinity,
  id: new RegExp(`^${ids.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`),
  bill,
}));

/** The bill of a model; undefined if it isn't in the list. */
export function billOf(model: string): Bill | undefined {
  const found = patterns.filter(({ id }) => id.test(model));
  return found.sort((one, other) => other.weight - one.weight)[0]?.bill;
}

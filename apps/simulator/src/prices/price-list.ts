import { images } from './images.js';
import { models3d } from './models-3d.js';
import type { Bill, PriceList } from './order.js';
import { seedance } from './seedance.js';
import { texts } from './texts.js';
import { videos } from './videos.js';

/**
 * The prices of the providers' public lists, written from the sources that the rows name and not from the rows. It shares no
 * code with them: what a price of ours misses is not missed here too.
 */
const priceList: PriceList = { ...texts, ...images, ...videos, ...seedance, ...models3d };

const patterns = Object.entries(priceList).map(([ids, bill]) => ({
  // An id says more than a pattern, and a longer pattern more than a shorter one.
  weight: ids.includes('*') ? ids.length : Infinity,
  id: new RegExp(`^${ids.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`),
  bill,
}));

/** The bill of a model; undefined for one that the list does not know. */
export function billOf(model: string): Bill | undefined {
  const found = patterns.filter(({ id }) => id.test(model));
  return found.sort((one, other) => other.weight - one.weight)[0]?.bill;
}

import { createHash } from 'node:crypto';
import { oncePerModel } from './model.js';

/** A short digest of the price of a row, by which a changed price is another one. */
export const priceDigest = oncePerModel(({ price }) =>
  createHash('sha256').update(JSON.stringify(price)).digest('hex').slice(0, 16),
);

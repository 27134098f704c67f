import { texts } from '../texts/index.ts';

export type Bucket = keyof typeof texts.buckets;

export const bucketOptions = Object.entries(texts.buckets).map(([value, { name }]) => ({
  value,
  label: name,
}));

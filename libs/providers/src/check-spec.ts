import type { Json, JsonPointer } from '#schemas';
import type { Condition } from './condition.js';

/**
 * A call that costs nothing and proves the key, with the public document that shows it. `url` starts with {base} or is
 * an absolute URL on one of the provider's origins.
 */
export interface CheckSpec {
  method?: 'GET' | 'POST';
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: Json | undefined;
  uniqueHeader?: string | undefined;
  /** Replies that accept the key: by default, any 2xx. */
  ok?: readonly Condition[] | undefined;
  /** Replies that reject it, besides those of `account.key`, 401 and 403. */
  rejected?: readonly Condition[] | undefined;
  /** The place of our balance in an accepting reply, or of its parts, and its unit. */
  balance?: { path: JsonPointer; unit: string } | undefined;
  source: string;
  date: string;
}

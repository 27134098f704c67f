import type { JsonPointer } from '#schemas';

/** Which of a run's calls a reply answers. An upload of a file comes before the submission. */
export type Phase = 'upload' | 'submit' | 'poll' | 'fetch';

/** A regular expression, of whatever engine. */
interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Selects replies. Every condition that is given must hold: `phase`; `http`, one status or `error` for any that is
 * not 2xx; `where`, places in the JSON body, or `header`, that hold a value, or, with `is`, one of the values there
 * equals or matches it; `unless`, places that hold nothing.
 */
export interface Condition {
  phase?: Phase | readonly Phase[];
  http?: number | 'error';
  where?: JsonPointer | readonly JsonPointer[];
  header?: string;
  is?: string | number | boolean | Pattern;
  unless?: JsonPointer | readonly JsonPointer[];
}

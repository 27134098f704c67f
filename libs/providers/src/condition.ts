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
 * not 2xx; `path`, places in the JSON body, or `header`, one of which has a value: any, the value of `equals`, or one
 * that `matches`; `unless`, places none of which has a value.
 */
export interface Condition {
  phase?: Phase | readonly Phase[];
  http?: number | 'error';
  path?: JsonPointer | readonly JsonPointer[];
  header?: string;
  equals?: string | number | boolean | undefined;
  matches?: Pattern | undefined;
  unless?: JsonPointer | readonly JsonPointer[];
}

/**
 * The ways in which a provider may refuse our account: the key is refused, the balance is empty, or an allowance is
 * used up that does not come back within a run's time budget. A limit per second or minute is load, not a quota.
 */
export const accountTroubles = ['key', 'balance', 'quota'] as const;

export type AccountTrouble = (typeof accountTroubles)[number];

/** Replies that report one trouble, and the public document that shows them, with the date on which it was read. */
interface AccountReport extends Condition {
  source: string;
  date: string;
}

/** The document in which such a reply would be, and is not. */
interface NotDocumented {
  notDocumentedIn: string;
  date: string;
}

export type AccountReports = Readonly<Record<AccountTrouble, readonly AccountReport[] | NotDocumented>>;

export const isDocumented = (
  reports: readonly AccountReport[] | NotDocumented,
): reports is readonly AccountReport[] => !('notDocumentedIn' in reports);

import type { JsonPointer } from '#schemas';

/** The call of a run that a reply answers. File uploads come before the submission. */
export type Phase = 'upload' | 'submit' | 'poll' | 'fetch';

/** A regular expression of any engine. */
interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Selects replies; every member that is present must match. `http`: one status, or `error` for any status other than
 * 2xx. `path`, places in the JSON body, and `header`: the header and one of the places must have a value: any value,
 * the value of `equals`, or a value that `matches`. `unless`: none of these places may have a value.
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
 * Problems with our account at a provider: the key is rejected, the balance is empty, or a quota is used up that does
 * not reset within a run's time budget. A limit per second or minute is load, not a quota.
 */
export const accountTroubles = ['key', 'balance', 'quota'] as const;

export type AccountTrouble = (typeof accountTroubles)[number];

/** Replies that report one problem, with the public document that shows them and the date on which it was read. */
interface AccountReport extends Condition {
  source: string;
  date: string;
}

/** The document that would show such a reply but does not. */
interface NotDocumented {
  notDocumentedIn: string;
  date: string;
}

export type AccountReports = Readonly<Record<AccountTrouble, readonly AccountReport[] | NotDocumented>>;

export const isDocumented = (
  reports: readonly AccountReport[] | NotDocumented,
): reports is readonly AccountReport[] => !('notDocumentedIn' in reports);

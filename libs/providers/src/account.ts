import type { Condition } from './condition.js';

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

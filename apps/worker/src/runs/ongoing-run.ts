import type { ClaimedRun, LiveRun, Used } from '#persistence';

/** A run whose outcome is known. */
export interface EndingRun extends ClaimedRun, Used {}

/** A run that its provider is working on. */
export type OngoingRun = LiveRun & EndingRun;

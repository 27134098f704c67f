import type { LiveRun } from './live-run.js';

/** The line in which a run waits for its provider; see `functions/lines.ts`. */
export const lineOf = ({
  provider,
  workspaceId,
  facts,
}: Pick<LiveRun, 'provider' | 'workspaceId' | 'facts'>): string =>
  facts.ownKey !== undefined ? `${provider}@${workspaceId}` : provider;

/** The provider of a line. */
export const providerOf = (line: string): string => line.replace(/@.*/, '');

/** Whether the runs of a line use a key of their workspace. */
export const isOwnLine = (line: string): boolean => line.includes('@');

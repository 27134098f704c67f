import type { WorkerSettings } from './settings.js';

export { SETTINGS } from '#infrastructure';

/**
 * How long polls and copies may go on when the worker stops: they are repeated elsewhere at no cost, so a stopping
 * worker does not wait for them as for submissions.
 */
export const repeatableGraceMs = ({ WORKER_CLOSE_MS }: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>): number =>
  Math.min(WORKER_CLOSE_MS, 8_000);

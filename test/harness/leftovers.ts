import { afterAll } from '@jest/globals';
import { endAll } from './running.js';

/**
 * Registers the check that nothing which this file started still runs: call it after the file's own
 * `afterAll` hooks, since they run in the order of registration. It ends what it finds, and fails.
 */
export function failOnLeftovers(): void {
  afterAll(async () => {
    const left = await endAll();
    if (left.length > 0) throw new Error(`Left behind by this file: ${left.join(', ')}`);
  });
}

import { afterAll } from '@jest/globals';
import { endAll } from './running.js';

/**
 * Registers the check that this file left nothing running. Call it after the file's own `afterAll` hooks, because
 * hooks run in the order of registration. It ends what it finds, and fails.
 */
export function failOnLeftovers(): void {
  afterAll(async () => {
    const left = await endAll();
    if (left.length > 0) throw new Error(`Left behind by this file: ${left.join(', ')}`);
  });
}

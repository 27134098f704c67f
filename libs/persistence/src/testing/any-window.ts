import { expect } from '@jest/globals';

/** What an admission says of the minute’s window, in a test that is not about it. */
export const anyWindow = {
  windowLimit: expect.any(Number),
  windowLeft: expect.any(Number),
  windowEndsInMs: expect.any(Number),
};

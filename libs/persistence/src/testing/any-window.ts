import { expect } from '@jest/globals';

/** The answer of an admission has these figures of the minute’s window, whatever the test is about. */
export const anyWindow = {
  windowLimit: expect.any(Number),
  windowLeft: expect.any(Number),
  windowEndsInMs: expect.any(Number),
};

// Stands for the package @jest/globals.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest;

export const setGlobals = (globals) => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } = globals);
};

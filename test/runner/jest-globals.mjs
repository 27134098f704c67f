// Stands for the package @jest/globals. Helpers that several files share are loaded once, so what they import has to
// reach the file that runs.
let current;

export const setCurrentGlobals = (globals) => {
  current = globals;
};

const live = (name) =>
  new Proxy(() => {}, {
    apply: (_target, _this, values) => current[name](...values),
    get: (_target, key) => current[name][key],
  });

export const afterAll = live('afterAll');
export const afterEach = live('afterEach');
export const beforeAll = live('beforeAll');
export const beforeEach = live('beforeEach');
export const describe = live('describe');
export const expect = live('expect');
export const it = live('it');
export const jest = live('jest');

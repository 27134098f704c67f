import { ModernFakeTimers } from '@jest/fake-timers';
import { getState, resetState } from 'jest-circus';
import runner from 'jest-circus/runner';
import { ModuleMocker } from 'jest-mock';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setGlobals } from './jest-globals.mjs';

const require = createRequire(import.meta.url);
register('./module-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);

const eventHandlers = globalThis[Symbol.for('EVENT_HANDLERS')];
const handlersOfEveryFile = eventHandlers.length;
let files = 0;

/**
 * The value of Jest's option `testRunner`: runs a file with Jest's own framework, but in Node's module system. The
 * modules of the product and of its packages load once per process instead of once per file, which took five times as
 * long. Only the spec file itself is loaded anew.
 */
export default async (globalConfig, config, _environment, _runtime, testPath, sendMessageToJest) => {
  // Jest maps only the stacks of modules that it loads itself; Node maps them all.
  Error.prepareStackTrace = undefined;
  const globalsBefore = Object.getOwnPropertyDescriptors(globalThis);
  const spies = new ModuleMocker(globalThis);
  const timers = new ModernFakeTimers({ config, global: globalThis });
  const runtime = {
    requireModule: require,
    requireInternalModule: (framework) => {
      const loaded = require(framework);
      forgetLastFile();
      return loaded;
    },
    setGlobalsForRuntime: (globals) => setGlobals({ ...globals, jest: spiesAndTimers(spies, timers) }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(`${pathToFileURL(path).href}?file=${(files += 1)}`),
    enterTestCode: () => {},
    leaveTestCode: () => {},
  };
  const environment = { global: globalThis };
  try {
    return await runner.default(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
  } finally {
    spies.restoreAllMocks();
    timers.dispose();
    restoreGlobals(globalsBefore);
  }
};

/** Restores the global variables that a file has replaced, such as `fetch`. Packages keep those that they have added. */
function restoreGlobals(before) {
  for (const [name, was] of Object.entries(before)) {
    const now = Object.getOwnPropertyDescriptor(globalThis, name);
    if (now?.value !== was.value || now?.get !== was.get) Object.defineProperty(globalThis, name, was);
  }
}

/** The framework keeps its state and its handlers in global variables, since Jest gives each file globals of its own. */
function forgetLastFile() {
  eventHandlers.length = handlersOfEveryFile;
  resetState();
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description === 'JEST_STATE_SYMBOL') globalThis[symbol] = getState();
}

/** The parts of the object `jest` that tests use. */
function spiesAndTimers(spies, timers) {
  return {
    spyOn: (...of) => spies.spyOn(...of),
    restoreAllMocks: () => spies.restoreAllMocks(),
    useFakeTimers: (options) => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
    now: () => timers.now(),
  };
}

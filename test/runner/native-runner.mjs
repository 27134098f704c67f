import { ModernFakeTimers } from '@jest/fake-timers';
import circus from 'jest-circus/runner';
import { ModuleMocker } from 'jest-mock';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setCurrentGlobals } from './jest-globals.mjs';

const require = createRequire(import.meta.url);
register('./module-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);

const eventHandlers = Symbol.for('EVENT_HANDLERS');
let files = 0;

/**
 * Runs a file with Jest's own framework, in the module system of Node instead of Jest's: the modules of the product and
 * of its packages load once per worker process, not once per file. Only the spec file itself is loaded anew. It is the value of Jest's option `testRunner`.
 */
export default (globalConfig, config, _environment, _runtime, testPath, sendMessageToJest) => {
  delete globalThis[eventHandlers];
  // Jest maps only the stacks of modules that it loads itself; Node maps them all.
  Error.prepareStackTrace = undefined;
  const runtime = {
    requireModule: require,
    requireInternalModule: (name) => {
      // The framework keeps the state of one file in its module.
      delete require.cache[name];
      return require(name);
    },
    setGlobalsForRuntime: (globals) => setCurrentGlobals({ ...globals, jest: spiesAndTimers(config) }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(`${pathToFileURL(path).href}?file=${(files += 1)}`),
    enterTestCode: () => {},
    leaveTestCode: () => {},
  };
  const environment = { global: globalThis };
  return circus.default(globalConfig, config, environment, runtime, testPath, sendMessageToJest);
};

/** The parts of the object `jest` that tests use. */
function spiesAndTimers(config) {
  const spies = new ModuleMocker(globalThis);
  const timers = new ModernFakeTimers({ config, global: globalThis });
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

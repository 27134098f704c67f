// Helpers that kill, measure, install, or start a separate system: only for the suites of faults and operations.
export { startBrowser } from './browser.js';
export { completedEarlier, happenedEarlier } from './ageing.js';
export { holdToInvariants } from './oracle.js';
export { memoryRises, residentBytes } from './memory.js';
export { freePort } from './ports.js';
export { childrenOf, startPostgres, type TestServer } from './servers.js';
export { spawnApp, type App } from './spawn-app.js';
export { System } from './system.js';
export { withTools } from './tools.js';
export { least } from './wait-for.js';

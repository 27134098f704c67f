// Part of `npm run build`: bundles the command line, so that a command reads a few files instead of the hundreds that its
// libraries export. The modules of each command stay apart and are read when it is chosen.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const out = fileURLToPath(new URL('../../dist/apps/admin', import.meta.url));
/** Drivers of other databases, of which TypeORM loads all. */
const otherDrivers = /typeorm\/driver\/(?!postgres|types)[^/]+\/[^/]+$/;

const bundle = await rolldown({
  input: `${out}/src/main.js`,
  platform: 'node',
  // Everything else only exports, so what no command uses is left out.
  treeshake: {
    moduleSideEffects: [
      { test: /reflect-metadata/, sideEffects: true },
      { test: /./, sideEffects: false },
    ],
  },
  plugins: [{ name: 'postgres-only', load: (id) => (otherDrivers.test(id) ? 'module.exports = {};' : null) }],
  onLog(level, log, handle) {
    // Packages try to load others that may be absent.
    if (log.code !== 'UNRESOLVED_IMPORT') handle(level, log);
  },
});
rmSync(`${out}/bundle`, { recursive: true, force: true });
await bundle.write({ dir: `${out}/bundle` });

// npm run soak -- --minutes 10 --seed 7
//
// Lets callers use a whole system, first in calm, then while providers fail and processes are killed and frozen.
import { parseArgs } from 'node:util';
import { startServices, stopServices } from '../harness/shared/services.js';
import { System } from '../harness/system.js';
import { transports } from '../harness/transports.js';
import { randomSeed } from '../models/replay.js';
import { type AlertWatch, watchAlerts } from './alerts.js';
import { held, linesOf } from './report.js';
import { type PhaseReport, soak } from './soak.js';
import { sizes } from './steady.js';

const { values } = parseArgs({
  options: {
    /** Length of each phase. */
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomSeed()) },
    /** redis or postgres; without it, redis where there is a server. */
    transport: { type: 'string' },
    /** Calls a second. */
    rate: { type: 'string', default: '5' },
    /** Average seconds between two acts of chaos. */
    pause: { type: 'string', default: '20' },
    /** Skips the second phase with chaos. */
    calm: { type: 'boolean', default: false },
    /** No chaos; prints what may grow at start and end. */
    steady: { type: 'boolean', default: false },
    /** No chaos; a Prometheus with the committed rules watches the system, and no alert may fire. */
    alerts: { type: 'boolean', default: false },
  },
});
const say = (line: string): unknown => process.stdout.write(`${line}\n`);
const phase = {
  seed: Number(values.seed),
  lastsMs: Number(values.minutes) * 60_000,
  callsPerSecond: Number(values.rate),
};

await startServices();
const known = transports();
const transport = known.find((kind) => kind === (values.transport ?? known[0]));
if (!transport) throw new Error(`--transport must be one of ${known.join(', ')} on this machine.`);
const system = await System.start({ transport, ownPostgres: true, gateways: 2, workers: 2 });
const reports: PhaseReport[] = [];
let fired: string[] = [];
let watch: AlertWatch | undefined;
const run = async (name: string, chaos: { pauseMs: number } | null) => {
  const report = await soak(system, { ...phase, name, chaos });
  reports.push(report);
  for (const line of linesOf(report)) say(line);
};
try {
  say(`soak on ${transport}: seed ${values.seed}, ${values.minutes} minutes, ${values.rate} calls a second`);
  const tellSizes = async (when: string) => {
    if (values.steady) for (const line of await sizes(system)) say(`${when}: ${line}`);
  };
  if (values.alerts) watch = await watchAlerts(system);
  await tellSizes('at the start');
  await run('calm', null);
  await tellSizes('at the end');
  if (watch) {
    const { lines, fired: found } = await watch.report();
    for (const line of lines) say(line);
    fired = found;
  }
  if (!values.calm && !values.steady && !values.alerts)
    await run('chaos', { pauseMs: Number(values.pause) * 1000 });
} finally {
  await watch?.stop();
  await system.stop();
  await stopServices();
}
const allHeld = reports.every(held) && fired.length === 0;
say(allHeld ? 'HELD' : `BROKEN: repeat with --seed ${values.seed}`);
process.exit(allHeld ? 0 : 1);

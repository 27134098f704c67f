import { readSettings } from '#schemas';
import { writeAccountKeys } from './account-keys.js';
import { simulatorSettings } from './settings.js';
import { startSimulator } from './simulator.js';

if (process.argv[2] === '--version') {
  const { releaseText } = await import('#observability');
  process.stdout.write(`${releaseText}\n`);
  process.exit(0);
}

const settings = readSettings(simulatorSettings, process.env);
const simulator = await startSimulator({
  apiPort: settings.SIMULATOR_PORT,
  assetPort: settings.SIMULATOR_ASSET_PORT,
  defaultMs: settings.SIMULATOR_DEFAULT_MS,
  ledgerFile: settings.SIMULATOR_LEDGER_FILE,
});

if (settings.SIMULATOR_KEYS_DIR !== undefined) writeAccountKeys(settings.SIMULATOR_KEYS_DIR, simulator.api);

// The ledger file is written before each answer, so the exit has nothing to wait for.
const leave = (): never => process.exit(0);
process.once('SIGTERM', leave);
process.once('SIGINT', leave);
// The IPC channel closes if the parent dies; without this, the simulator would keep its ports.
process.once('disconnect', leave);

process.stdout.write(`${JSON.stringify({ api: simulator.api, assets: simulator.assets })}\n`);

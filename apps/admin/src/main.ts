import { catalogCommands } from './commands/catalog.js';
import { creditsCommands } from './commands/credits.js';
import { keyCommands } from './commands/key.js';
import { migrateCommand } from './commands/migrate.js';
import { providerCommands } from './commands/provider.js';
import { registryCommands } from './commands/registry.js';
import { tokenCommands } from './commands/token.js';
import { usageCommands } from './commands/usage.js';
import { workspaceCommands } from './commands/workspace.js';
import { runProgram } from './program.js';

const groups = [
  migrateCommand,
  workspaceCommands,
  keyCommands,
  tokenCommands,
  creditsCommands,
  usageCommands,
  catalogCommands,
  providerCommands,
  registryCommands,
];

// A reader that has seen enough closes the pipe; the write that fails then says so.
process.stdout.on('error', () => {});

process.exitCode = await runProgram(groups, process.argv.slice(2), process.env, {
  out: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  error: (text) => void process.stderr.write(text),
  status: process.stderr.isTTY ? (text) => void process.stderr.write(text) : undefined,
});

// A connection that no longer answers must not keep the process alive after its last word.
setTimeout(() => process.exit(), 3000).unref();

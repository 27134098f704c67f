// First, because decorators use it. In the bundle nothing else loads it in time.
import 'reflect-metadata';
import { askTerminal } from './confirm.js';
import { commandGroups } from './command-groups.js';
import { runProgram } from './program.js';

// If the reader closes the pipe early, the failed write rejects, so the event itself is ignored.
process.stdout.on('error', () => {});

process.exitCode = await runProgram(commandGroups, process.argv.slice(2), process.env, {
  out: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  error: (text) => void process.stderr.write(text),
  input: process.stdin,
  ask: process.stdin.isTTY && process.stderr.isTTY ? askTerminal : undefined,
  status: process.stderr.isTTY ? (text) => void process.stderr.write(text) : undefined,
});

// An unresponsive connection must not keep the process alive once the command has ended.
setTimeout(() => process.exit(), 3000).unref();

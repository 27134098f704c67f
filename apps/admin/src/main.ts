import { askTerminal } from './confirm.js';
import { commandGroups } from './command-groups.js';
import { runProgram } from './program.js';

// A reader that has seen enough closes the pipe; the write that fails then says so.
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

// A connection that no longer answers must not keep the process alive after its last word.
setTimeout(() => process.exit(), 3000).unref();

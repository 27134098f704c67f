import { z } from 'zod';
import { commandGroups } from './command-groups.js';
import { runProgram } from './program.js';

const command = z.object({
  id: z.number(),
  words: z.array(z.string()),
  env: z.record(z.string(), z.string()),
});

/**
 * The program for a parent process that runs many commands, since to load it takes longer than most of them. The parent
 * sends `{id, words, env}` over its IPC channel and gets `{id, code, out, error}`; commands run beside each other. It ends
 * when the parent closes the channel, with the commands that it still runs.
 */
process.on('message', (message) => {
  const { id, words, env } = command.parse(message);
  const written = { out: '', error: '' };
  const terminal = {
    out: (text: string) => void (written.out += text),
    error: (text: string) => void (written.error += text),
  };
  void runProgram(commandGroups, words, env, terminal).then((code) =>
    process.send?.({ id, code, ...written }),
  );
});

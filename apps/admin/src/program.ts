import { Command, CommanderError } from 'commander';
import { type Answer, type Desk, printed } from './answer.js';
import { failureLine } from './failure-line.js';
import { wholeNumber } from './option-values.js';
import { TimeLimit } from './time-limit.js';

/** A group of commands adds itself to the program. */
export type CommandGroup = (program: Command, desk: Desk) => void;

/** Where the program writes. Only a printed answer waits for its reader; each other call is the whole text. */
interface Terminal {
  out: (text: string) => void | Promise<void>;
  error: (text: string) => void;
  /** Only on a terminal: writes what the next writing covers. */
  status?: ((text: string) => void) | undefined;
}

const usualSeconds = 120;
/** For commands whose length depends on what they are given. */
const longSeconds = 86_400;

interface ProgramOptions {
  json?: true;
  timeoutSeconds: number;
}

/**
 * Runs one command line. The answer goes to standard output, in JSON as exactly one document; a failure is
 * one line on standard error. Resolves to the exit code: 0, 1 for a failure or a bad finding, 2 for bad usage.
 */
export async function runProgram(
  groups: readonly CommandGroup[],
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const given: Answer[] = [];
  const limit = new TimeLimit();
  const program = emptyProgram(terminal);
  const desk: Desk = {
    env,
    answer: (answer) => void given.push(answer),
    print: async (text) => terminal.out(text),
    status: terminal.status,
    takesLong: () => {
      if (program.getOptionValueSource('timeoutSeconds') === 'default') limit.set(longSeconds);
    },
  };
  for (const group of groups) group(program, desk);
  try {
    const work = program.parseAsync(words, { from: 'user' });
    if (!limit.isSet) limit.set(program.opts<ProgramOptions>().timeoutSeconds);
    await limit.hold(work);
    for (const answer of given)
      await terminal.out(printed(answer, program.opts<ProgramOptions>().json === true));
  } catch (error) {
    // Commander has already said what is wrong with the command line, or shown the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.error(`${failureLine(error)}\n`);
    return 1;
  }
  return given.some(({ bad }) => bad) ? 1 : 0;
}

function emptyProgram(terminal: Terminal): Command {
  return new Command('admin')
    .description('Operator’s commands of the model router.')
    .option('--json', 'print one JSON document')
    .option('--timeout-seconds <n>', 'longest a command may take', wholeNumber(1, longSeconds), usualSeconds)
    .exitOverride()
    .configureOutput({ writeOut: (text) => void terminal.out(text), writeErr: terminal.error })
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(false);
}

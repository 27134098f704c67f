import { Command, CommanderError } from 'commander';
import { Readable } from 'node:stream';
import { type Answer, type Desk, printed } from './answer.js';
import { confirmed } from './confirm.js';
import { withEnvironmentFile } from './environment.js';
import { failureLine } from './failure-line.js';
import { wholeNumber } from './option-values.js';

/** A group of commands adds itself to the program. */
export type CommandGroup = (program: Command, desk: Desk) => void;

/** Where the program writes. Only a printed answer waits for its reader; each other call is the whole text. */
interface Terminal {
  out: (text: string) => void | Promise<void>;
  error: (text: string) => void;
  /** Standard input; where there is none, a command that reads it gets nothing. */
  input?: AsyncIterable<Buffer | string>;
  /** Only on a terminal: writes what the next writing covers. */
  status?: ((text: string) => void) | undefined;
  /** Only where somebody can answer. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

const usualSeconds = 120;
/** For commands whose length depends on what they are given. */
const longSeconds = 86_400;

interface ProgramOptions {
  json?: true;
  yes?: true;
  envFile?: string;
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
  const options = () => program.opts<ProgramOptions>();
  const desk: Desk = {
    get env() {
      return withEnvironmentFile(env, options().envFile);
    },
    confirm: (what) => confirmed(what, { isAgreed: options().yes === true, ask: terminal.ask }),
    answer: (answer) => void given.push(answer),
    print: async (text) => terminal.out(text),
    input: terminal.input ?? Readable.from([]),
    warn: (text) => terminal.error(`warning: ${text}\n`),
    status: terminal.status,
    takesLong: () => {
      if (program.getOptionValueSource('timeoutSeconds') === 'default') limit.set(longSeconds);
    },
  };
  for (const group of groups) group(program, desk);
  try {
    const work = program.parseAsync(words, { from: 'user' });
    if (!limit.isSet) limit.set(options().timeoutSeconds);
    await limit.hold(work);
    for (const answer of given) await terminal.out(printed(answer, options().json === true));
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
    .description(
      `Operator’s commands of the model router.

A workspace is named by its name or its id: in "workspace …" as the argument, in every other command by --workspace.
Settings come from the environment. If it names no DATABASE_URL, they come from .env in this folder, else from
.local/admin.env, which "npm start" writes.`,
    )
    .option('--json', 'print one JSON document')
    .option('-y, --yes', 'go on without a question where something cannot be undone')
    .option('--env-file <file>', 'settings for what the environment does not say')
    .option('--timeout-seconds <n>', 'longest a command may take', wholeNumber(1, longSeconds), usualSeconds)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.error,
      // Commander puts its suggestion on a second line.
      outputError: (text, write) => write(text.replace('\n(', ' (')),
    })
    .configureHelp({ showGlobalOptions: true });
}

/** The longest a command may take, counted from the last time it was set. */
class TimeLimit {
  private timer: NodeJS.Timeout | undefined;
  private late: (error: Error) => void = () => {};
  private readonly passed = new Promise<never>((_resolve, reject) => {
    this.late = reject;
  });

  get isSet(): boolean {
    return this.timer !== undefined;
  }

  set(seconds: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late(new Error(`No end after ${seconds} s; whether the change was made is not known.`));
    }, seconds * 1000);
  }

  /** The work, or the failure that it took too long. */
  async hold<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.passed]);
    } finally {
      clearTimeout(this.timer);
    }
  }
}

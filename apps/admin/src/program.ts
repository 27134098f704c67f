import { releaseText } from '#observability';
import { Command, CommanderError } from 'commander';
import { Readable } from 'node:stream';
import { type Answer, type Desk, printed } from './answer.js';
import { confirmed } from './confirm.js';
import { withEnvironmentFile } from './environment.js';
import { personOption } from './person-name.js';
import { suggestChoices } from './suggested-choices.js';
import { wholeNumber } from './whole-number.js';

/** A command of the program, with the commands below it. */
export interface CommandGroup {
  name: string;
  description: string;
  /** Imports the modules of the command, which take longer than everything else, so only the chosen one is loaded. */
  load: () => Promise<CommandSetup>;
}

/** Adds options, an action or further commands to a command. */
export type CommandSetup = (command: Command, desk: Desk) => void;

/** The input and output of the program. Only printed answers wait for their reader. */
interface Terminal {
  out: (text: string) => void | Promise<void>;
  error: (text: string) => void;
  /** Standard input; empty if absent. */
  input?: AsyncIterable<Buffer | string>;
  /** Shows progress that the next output overwrites. Present only on a terminal. */
  status?: ((text: string) => void) | undefined;
  /** Asks the operator a question. Present only on a terminal. */
  ask?: ((question: string) => Promise<string>) | undefined;
}

const usualSeconds = 120;
/** Time limit of commands whose duration depends on their input. */
const longSeconds = 86_400;

interface ProgramOptions {
  json?: true;
  yes?: true;
  envFile?: string;
  as?: string;
  timeoutSeconds: number;
}

/**
 * Runs one command line. The answer goes to standard output, with --json as exactly one document. A failure
 * is one line on standard error. Resolves with the exit code: 0, 1 for a failure or a bad finding, 2 for bad
 * usage.
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
      const { envFile, as: person } = options();
      const given = withEnvironmentFile(env, envFile);
      return person === undefined ? given : { ...given, ADMIN_ACTOR: person };
    },
    confirm: (what) => confirmed(what, { isAgreed: options().yes === true, ask: terminal.ask }),
    answer: (answer) => void given.push(answer),
    print: async (text) => terminal.out(text),
    input: terminal.input ?? Readable.from([]),
    tell: (text) => terminal.error(`${text}\n`),
    warn: (text) => terminal.error(`warning: ${text}\n`),
    status: terminal.status,
    takesLong: () => {
      if (program.getOptionValueSource('timeoutSeconds') === 'default') limit.set(longSeconds);
    },
  };
  for (const { name, description } of groups) program.command(name).description(description);
  program.hook('preSubcommand', async (_program, command) => {
    const setUp = await groups.find(({ name }) => name === command.name())?.load();
    setUp?.(command, desk);
    suggestChoices(command);
  });
  // Commander's own help command describes a command before it is loaded.
  program
    .helpCommand(false)
    .command('help [command...]')
    .description('display help for a command')
    .action(async (path: string[]) => void (await program.parseAsync([...path, '--help'], { from: 'user' })));
  try {
    const work = program.parseAsync(words, { from: 'user' });
    if (!limit.isSet) limit.set(options().timeoutSeconds);
    await limit.hold(work);
    for (const answer of given) await terminal.out(printed(answer, options().json === true));
  } catch (error) {
    // Commander has already reported the usage error or printed the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { failureLine } = await import('./failure-line.js');
    terminal.error(`${failureLine(error)}\n`);
    return 1;
  }
  return given.some(({ bad }) => bad) ? 1 : 0;
}

function emptyProgram(terminal: Terminal): Command {
  return new Command('admin')
    .description(
      `Operator commands of the model router.

Workspaces are specified by name or id, as the argument of "workspace" commands and with --workspace elsewhere.
Settings come from the environment. Without a DATABASE_URL there, they are also read from .env in this folder or, if
that does not exist, from .local/admin.env, which "npm start" writes.`,
    )
    .version(releaseText, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .option('-y, --yes', 'do not ask for confirmation of actions that cannot be undone')
    .option('--env-file <file>', 'file with settings that are not in the environment')
    .option('--as <name>', 'your name, for the record of changes (default: ADMIN_ACTOR)', personOption)
    .option('--timeout-seconds <n>', 'time limit of the command', wholeNumber(1, longSeconds), usualSeconds)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.error,
      // Commander puts its suggestion on a second line.
      outputError: (text, write) => write(text.replace('\n(', ' (')),
    })
    .configureHelp({ showGlobalOptions: true });
}

/** The time limit of a command, counted from the last time that it was set. */
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
      this.late(new Error(`Timed out after ${seconds} s. The change may or may not have been made.`));
    }, seconds * 1000);
  }

  /** Resolves with the work, or rejects when the time is over. */
  async hold<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.passed]);
    } finally {
      clearTimeout(this.timer);
    }
  }
}

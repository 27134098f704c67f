import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Argument, Option } from 'commander';
import type { Answer } from './answer.js';
import { type CommandGroup, type CommandSetup, runProgram } from './program.js';

async function run(groups: CommandGroup | CommandGroup[], ...words: string[]) {
  const written = { out: '', error: '' };
  const code = await runProgram(
    [groups].flat(),
    words,
    {},
    {
      out: (text) => {
        written.out += text;
      },
      error: (text) => {
        written.error += text;
      },
    },
  );
  return { code, ...written };
}

const group = (name: string, setUp: CommandSetup): CommandGroup => ({
  name,
  description: `The command ${name}.`,
  load: async () => setUp,
});

const answering = (answer: Answer) =>
  group('show', (command, desk) => {
    command.requiredOption('--of <name>').action(() => desk.answer(answer));
  });

const fine: Answer = { document: { found: [1] }, text: 'one' };

const failing = group('fail', (command) => {
  command.action(() => Promise.reject(new Error('no\nluck')));
});

const endless = group('wait', (command) => {
  command.action(() => new Promise<void>(() => {}));
});

const paint = group('paint', (command, desk) => {
  command
    .addArgument(new Argument('<color>').choices(['red', 'purple']))
    .addOption(new Option('--shape <shape>').choices(['circle', 'square']))
    .action((color, { shape }) => desk.answer({ document: {}, text: `${color} ${shape}` }));
});

const who = group('who', (command, desk) => {
  command.action(() => {
    desk.answer({ document: {}, text: desk.env['ADMIN_ACTOR'] ?? '' });
  });
});

const never: CommandGroup = {
  ...group('never', () => {}),
  load: () => Promise.reject(new Error('it was loaded')),
};

const nested = group('outer', (command) => {
  command.command('inner').description('The command inside.');
});

describe('runProgram', () => {
  afterEach(() => void jest.useRealTimers());

  it('prints the text and exits with 0', async () => {
    expect(await run(answering(fine), 'show', '--of', 'a')).toEqual({ code: 0, out: 'one\n', error: '' });
  });

  it.each([[['--json', 'show', '--of', 'a']], [['show', '--of', 'a', '--json']]])(
    'prints one JSON document for %j',
    async (words) => {
      const { code, out } = await run(answering(fine), ...words);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toEqual({ found: [1] });
    },
  );

  it('exits with 1 after it printed a bad finding', async () => {
    const { code, out, error } = await run(answering({ ...fine, bad: true }), 'show', '--of', 'a');
    expect({ code, out, error }).toEqual({ code: 1, out: 'one\n', error: '' });
  });

  it('exits with 1 and prints one line on failure', async () => {
    expect(await run(failing, 'fail', '--json')).toEqual({ code: 1, out: '', error: 'error: no luck\n' });
  });

  it.each([
    [['show']],
    [['show', '--of']],
    [['show', '--of', 'a', '--unknown']],
    [['show', '--of', 'a', 'surplus']],
    [['other']],
    [['shwo']],
    [['--timeout-seconds', '0', 'show', '--of', 'a']],
  ])('exits with 2 and prints one line for the bad usage %j', async (words) => {
    const { code, out, error } = await run(answering(fine), ...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(/^error: [^\n]+\n$/);
  });

  it('suggests a similar command or option', async () => {
    expect((await run(answering(fine), 'shw')).error).toBe(
      "error: unknown command 'shw' (Did you mean show?)\n",
    );
    expect((await run(answering(fine), 'show', '--of', 'a', '--jsn')).error).toContain(
      '(Did you mean --json?)',
    );
  });

  it('suggests a similar choice of an option or argument', async () => {
    expect((await run(paint, 'paint', 'purpel')).error).toContain(
      'Allowed choices are red, purple. Did you mean purple?',
    );
    expect((await run(paint, 'paint', 'red', '--shape', 'sqaure')).error).toContain('Did you mean square?');
    expect((await run(paint, 'paint', 'red', '--shape', 'square')).out).toBe('red square\n');
  });

  it('passes the name in --as, before or after the command, on in place of ADMIN_ACTOR', async () => {
    expect((await run(who, '--as', 'alice', 'who')).out).toBe('alice\n');
    expect((await run(who, 'who', '--as', 'Zoë Müller')).out).toBe('Zoë Müller\n');
    expect((await run(who, 'who')).out).toBe('\n');
  });

  it('prints help without a command as bad usage, and with --help as an answer', async () => {
    expect((await run(answering(fine))).code).toBe(2);
    const { code, out } = await run(answering(fine), '--help');
    expect(code).toBe(0);
    expect(out).toContain('Usage: admin');
  });

  it('loads no command that is not chosen, and lists each with its description', async () => {
    const { code, out } = await run([never, answering(fine)], '--help');
    expect(code).toBe(0);
    expect(out).toMatch(/never +The command never\.\n +show +The command show\./);
    expect(await run([never, answering(fine)], 'show', '--of', 'a')).toMatchObject({ code: 0, out: 'one\n' });
    expect(await run(never, 'never')).toMatchObject({ code: 1, error: 'error: it was loaded\n' });
  });

  it.each([[['help', 'outer']], [['outer', '--help']], [['--timeout-seconds', '9', 'help', 'outer']]])(
    'describes the chosen command for %j',
    async (words) => {
      const { code, out } = await run([never, nested], ...words);
      expect(code).toBe(0);
      expect(out).toMatch(/Usage: admin outer.*The command outer\..*inner +The command inside\./s);
    },
  );

  it('gives up on a command that takes too long', async () => {
    jest.useFakeTimers();
    const ended = run(endless, 'wait', '--timeout-seconds', '30');
    await jest.advanceTimersByTimeAsync(30_000);
    const { code, error } = await ended;
    expect(code).toBe(1);
    expect(error).toContain('Timed out after 30 s');
  });
});

import { createInterface } from 'node:readline/promises';

interface Asking {
  /** Given by --yes. */
  isAgreed: boolean;
  /** Absent where nobody can answer. */
  ask: ((question: string) => Promise<string>) | undefined;
}

/** Goes on when the operator agrees; what nobody can be asked about needs `--yes`. */
export async function confirmed(what: string, { isAgreed, ask }: Asking): Promise<void> {
  if (isAgreed) return;
  if (ask === undefined) throw new Error(`${what} It cannot be undone: repeat it with --yes.`);
  if (!/^y(es)?$/i.test((await ask(`${what} It cannot be undone. Go on? [y/N] `)).trim()))
    throw new Error('Nothing was changed.');
}

/** Asks the person at the terminal. */
export async function askTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

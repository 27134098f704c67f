import { createInterface } from 'node:readline/promises';

interface Asking {
  /** True with --yes. */
  isAgreed: boolean;
  /** Absent if there is no terminal. */
  ask: ((question: string) => Promise<string>) | undefined;
}

/** Resolves if the operator agrees, otherwise rejects. Without a terminal, `--yes` is required. */
export async function confirmed(what: string, { isAgreed, ask }: Asking): Promise<void> {
  if (isAgreed) return;
  if (ask === undefined)
    throw new Error(`${what} This cannot be undone. Repeat the command with --yes to confirm.`);
  if (!/^y(es)?$/i.test((await ask(`${what} This cannot be undone. Continue? [y/N] `)).trim()))
    throw new Error('Nothing was changed.');
}

/** Asks a question on the terminal. */
export async function askTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

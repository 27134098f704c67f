/** The answer of a command: one JSON document, and the same as text for people. Neither ends in a line feed. */
export interface Answer {
  document: object;
  text: string;
  /** True when the command worked and its finding is bad: the answer is printed and the exit code is 1. */
  bad?: boolean;
}

/** Where a command finds its settings and leaves its answer. */
export interface Desk {
  readonly env: NodeJS.ProcessEnv;
  /** Resolves when the operator agrees to what cannot be undone; rejects otherwise. */
  confirm: (what: string) => Promise<void>;
  answer: (answer: Answer) => void;
  /** Prints at once, for answers that are too long to be held; resolves when there is room for more. */
  print: (text: string) => Promise<void>;
  /** Standard input, for a command that was given no file. */
  readonly input: AsyncIterable<Buffer | string>;
  /** Tells on standard error what an operator should know beside the answer; one line. */
  warn: (text: string) => void;
  /** Writes what a person sees while waiting; absent where nobody watches. */
  status: ((text: string) => void) | undefined;
  /** The command’s length depends on what it is given: from now on it may take a day, unless the operator has set a limit. */
  takesLong: () => void;
}

/** The answer as it is printed on standard output. */
export const printed = (answer: Answer, asJson: boolean): string =>
  `${asJson ? JSON.stringify(answer.document, null, 2) : answer.text}\n`;

/** Ends a status: the next line overwrites it. */
export const clearLine = '\r\u001B[K';

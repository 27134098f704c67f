/** The answer of a command, as a JSON document and as text. Neither ends with a line feed. */
export interface Answer {
  document: object;
  text: string;
  /** True if the command worked but found a problem. The answer is printed and the exit code is 1. */
  bad?: boolean;
}

/** The interface of a command to its settings, input and output. */
export interface Desk {
  readonly env: NodeJS.ProcessEnv;
  /** Asks the operator to confirm an action that cannot be undone. Rejects if they decline. */
  confirm: (what: string) => Promise<void>;
  answer: (answer: Answer) => void;
  /** Prints at once, for answers that are too long to keep in memory. Resolves when more can be printed. */
  print: (text: string) => Promise<void>;
  /** Standard input, for commands that are not given a file. */
  readonly input: AsyncIterable<Buffer | string>;
  /** Prints one line on standard error at once, about work that takes long. */
  tell: (text: string) => void;
  /** Prints a warning of one line on standard error, in addition to the answer. */
  warn: (text: string) => void;
  /** Shows the progress of the command. Absent if standard error is not a terminal. */
  status: ((text: string) => void) | undefined;
  /** Raises the time limit to a day, unless the operator set one. For commands with input of any length. */
  takesLong: () => void;
}

/** The answer as printed on standard output. */
export const printed = (answer: Answer, asJson: boolean): string =>
  `${asJson ? JSON.stringify(answer.document, null, 2) : answer.text}\n`;

/** Clears the progress line. */
export const clearLine = '\r\u001B[K';

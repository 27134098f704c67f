/** How a server is run. The guard holds nothing else about it. */
export interface ServerSpec {
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Both streams of the server are appended to this file. */
  logPath: string;
  /** Asks for a quick, clean end. */
  stopSignal: NodeJS.Signals;
  /** After so many milliseconds without an end it is killed. */
  graceMs: number;
  /** Absent: the account of the caller. */
  account?: { uid: number; gid: number };
  /** Opened before the account changes, and handed over as descriptor 3. */
  folder?: string;
}

export interface ServerEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type ToGuard =
  | { kind: 'run'; id: number; spec: ServerSpec }
  | { kind: 'stop'; id: number }
  | { kind: 'watch'; pid: number }
  | { kind: 'forget'; pid: number }
  | { kind: 'remove'; file: string };

export type FromGuard =
  | { kind: 'started'; id: number; pid: number }
  | { kind: 'failed'; id: number; message: string }
  | ({ kind: 'ended'; id: number } & ServerEnd);

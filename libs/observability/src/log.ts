import { writeSync } from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino, symbols } from 'pino';

export type Log = Logger;

/** Injects the process's `Log`. */
export const LOG = Symbol('log');

interface LogLimits {
  /** So much waits for a reader that has stopped; what comes then is dropped, and a line says so. */
  maxWaitingBytes?: number;
  onDropped?: (lines: number) => void;
}

/**
 * JSON lines on stdout. Each call names the fields it means: bodies, headers and keys are never passed in, and the few
 * fields that could carry a secret by accident are removed.
 */
export function createLog(
  app: string,
  level: string,
  { maxWaitingBytes = 16 * 1024 * 1024, onDropped = () => {} }: LogLimits = {},
): Log {
  const options = {
    level,
    base: { app },
    timestamp: timeMember(),
    redact: ['*.authorization', '*["x-api-key"]', '*.password', '*.secret', '*.body'],
    serializers: { error: pino.stdSerializers.err },
  };
  const stdout = pino.destination({ dest: stdoutFd, maxLength: maxWaitingBytes });
  const log = pino(options, gathering(stdout));
  let missing = 0;
  stdout.on('drop', (text: string) => {
    const lines = text.split('\n').length - 1;
    missing += lines;
    onDropped(lines);
  });
  stdout.on('drain', () => {
    if (missing > 0) log.warn({ lines: missing }, 'log lines are missing: too many waited for their reader');
    missing = 0;
  });
  return log;
}

const stdoutFd = 1;

/** The time of a line, written once a millisecond: a date's text takes two fifths of the time of a line. */
function timeMember(): () => string {
  let lastMs = -1;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}

const errorLevel = 50;
const gatherMs = 50;
const maxGathered = 64;

/**
 * Writes lines together: a write for each takes a third of a busy gateway. Errors, and what led to them, are written at
 * once; a process that is killed loses what it had gathered, at most the lines of `gatherMs`.
 */
function gathering(stdout: DestinationStream): DestinationStream {
  const lines = new Gathered<string>(gatherMs, maxGathered, (all) => stdout.write(all.join('')));
  process.once('exit', () => {
    try {
      // Once and no more: pino's own flush at exit never ends when the reader of the pipe has died first.
      lines.flush((all) => writeSync(stdoutFd, all.join('')));
    } catch {
      // Their reader is gone.
    }
  });
  const destination = {
    // Asks pino to set `lastLevel` before it writes a line.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string): void {
      lines.add(line);
      if (destination.lastLevel >= errorLevel) lines.flush();
    },
  };
  return destination;
}

/** Passes items on together: `ms` after the first of them, or when there are `max`. */
export class Gathered<Item> {
  private readonly items: Item[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly ms: number,
    private readonly max: number,
    private readonly pass: (items: Item[]) => void,
  ) {}

  add(item: Item): void {
    if (this.items.push(item) >= this.max) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), this.ms);
  }

  flush(pass = this.pass): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.items.length > 0) pass(this.items.splice(0));
  }
}

/** Nest's own messages in the same log; its chatter at start is debug. */
export function nestLogger(log: Log): LoggerService {
  return {
    log: (message: unknown, context?: unknown) => log.debug({ context }, String(message)),
    error: (message: unknown, ...rest: unknown[]) => log.error({ rest: rest.map(String) }, String(message)),
    warn: (message: unknown, context?: unknown) => log.warn({ context }, String(message)),
  };
}

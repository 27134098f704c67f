import { writeSync } from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino, symbols } from 'pino';
import { withCallId } from './calls-of-runs.js';

export type Log = Logger;

/** Injects the process's `Log`. */
export const LOG = Symbol('log');

interface LogLimits {
  /** Maximum size of lines that wait for a slow reader. Further ones are dropped, counted and reported. */
  maxWaitingBytes?: number;
  onDropped?: (lines: number) => void;
}

/**
 * Creates a log of JSON lines on stdout. Bodies, headers and keys are never logged, and as a safeguard the
 * few fields that could contain a secret by accident are redacted.
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
    hooks: { logMethod: withCallId },
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
    if (missing > 0) log.warn({ lines: missing }, 'log lines are missing, because their reader was too slow');
    missing = 0;
  });
  return log;
}

const stdoutFd = 1;

/** Formats the time at most once per millisecond: formatting takes two fifths of the cost of a line. */
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
 * Writes lines in batches, because one write per line takes a third of a busy gateway's time. Errors and the
 * lines before them are written at once. A process that is killed loses at most the lines of the last
 * `gatherMs`.
 */
function gathering(stdout: DestinationStream): DestinationStream {
  const lines = new Gathered<string>(gatherMs, maxGathered, (all) => stdout.write(all.join('')));
  process.once('exit', () => {
    try {
      // Tries only once, because pino's own flush at exit never returns if the reader of the pipe has died.
      lines.flush((all) => writeSync(stdoutFd, all.join('')));
    } catch {
      // The reader is gone.
    }
  });
  const destination = {
    // Makes pino set `lastLevel` before it writes a line.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string): void {
      lines.add(line);
      if (destination.lastLevel >= errorLevel) lines.flush();
    },
  };
  return destination;
}

/** Passes items on in batches: `ms` after the first item of a batch, or when it has `max` items. */
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

/** Writes Nest's own messages to the same log. Its messages during startup become debug lines. */
export function nestLogger(log: Log): LoggerService {
  return {
    log: (message: unknown, context?: unknown) => log.debug({ context }, String(message)),
    error: (message: unknown, ...rest: unknown[]) => log.error({ rest: rest.map(String) }, String(message)),
    warn: (message: unknown, context?: unknown) => log.warn({ context }, String(message)),
  };
}

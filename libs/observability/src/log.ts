import { writeSync } from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino, symbols } from 'pino';

export type Log = Logger;

/** Injects the process's `Log`. */
export const LOG = Symbol('log');

/**
 * JSON lines on stdout. Whoever logs names the fields it means: bodies, headers and keys are never passed in, and the few
 * fields that could carry a secret by accident are removed.
 */
export function createLog(app: string, level: string): Log {
  const options = {
    level,
    base: { app },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*["x-api-key"]', '*.password', '*.secret', '*.body'],
    serializers: { error: pino.stdSerializers.err },
  };
  return pino(options, new GatheredLines());
}

const stdoutFd = 1;
const errorLevel = 50;
const gatherMs = 50;
const gatherLength = 16 * 1024;

/**
 * Writes lines together: a write for each takes a third of a busy gateway. Errors, and what led to them, are written at
 * once; a process that is killed loses what it had gathered, at most the lines of `gatherMs`.
 */
class GatheredLines implements DestinationStream {
  /** Asks pino to set `lastLevel` before it writes a line. */
  readonly [symbols.needsMetadataGsym] = true;
  lastLevel = 0;
  private lines = '';
  private timer: NodeJS.Timeout | undefined;
  private readonly stdout = pino.destination(stdoutFd);

  constructor() {
    process.once('exit', () => this.writeLast());
  }

  write(line: string): void {
    this.lines += line;
    if (this.lastLevel >= errorLevel || this.lines.length >= gatherLength) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.stdout.write(this.lines);
    this.lines = '';
  }

  /** Once and no more: pino's own flush at exit never ends when the reader of the pipe has died first. */
  private writeLast(): void {
    try {
      if (this.lines !== '') writeSync(stdoutFd, this.lines);
    } catch {
      // Nobody reads them.
    }
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

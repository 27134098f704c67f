import type { LoggerService } from '@nestjs/common';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** Injects the process's `Log`. */
export const LOG = Symbol('log');

/**
 * JSON lines on stdout, each written at once: gathered ones would be flushed at exit, and that flush never ends
 * when the reader of the pipe has died first. Whoever logs names the fields it means: bodies, headers and keys
 * are never passed in, and the few fields that could carry a secret by accident are removed.
 */
export function createLog(app: string, level: string): Log {
  return pino({
    level,
    base: { app },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*["x-api-key"]', '*.password', '*.secret', '*.body'],
    serializers: { error: pino.stdSerializers.err },
  });
}

/** Nest's own messages in the same log; its chatter at start is debug. */
export function nestLogger(log: Log): LoggerService {
  return {
    log: (message: unknown, context?: unknown) => log.debug({ context }, String(message)),
    error: (message: unknown, ...rest: unknown[]) => log.error({ rest: rest.map(String) }, String(message)),
    warn: (message: unknown, context?: unknown) => log.warn({ context }, String(message)),
  };
}

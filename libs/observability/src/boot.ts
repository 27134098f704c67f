import { setFlagsFromString } from 'node:v8';
import { StartupError } from '#errors';
import { type INestApplicationContext, type NestApplicationOptions, ShutdownSignal } from '@nestjs/common';
import { InternalServer } from './internal-server.js';
import { type Log, LOG, nestLogger } from './log.js';
import { unreachable } from './reachability.js';

/**
 * The servers of an app. Standard error names those that take no connection: the app itself waits longer, and can do
 * without some.
 */
interface ServerSettings {
  DATABASE_URL: string;
  REDIS_URL?: string | undefined;
  S3_BUCKET?: string | undefined;
  S3_ENDPOINT?: string | undefined;
}

interface Bootable<App extends INestApplicationContext, Settings extends ServerSettings> {
  /** Reads the environment; a `StartupError`, here and in `create`, refuses the start with its message alone. */
  settings(): Settings;
  /** Builds the app with these options. */
  create(options: NestApplicationOptions, settings: Settings): Promise<App>;
  /** Opens the app to its work; returns the message of the log line about it, and what the line says beside that. */
  start(app: App, settings: Settings): Promise<{ message: string }>;
  /** How long a stop may take in all; afterwards the process exits with 1. */
  closeMs(settings: Settings): number;
  /** Reads the catalog again, at SIGHUP; it never rejects. */
  reload(app: App): Promise<void>;
}

// V8 may come to allocate what lives for one call among what lives for long, and then each call's objects survive with it
// until the next full collection: in three of four processes a fifth of a busy gateway's time, and twice its memory.
setFlagsFromString('--no-allocation-site-pretenuring');

const stopSignals = [ShutdownSignal.SIGTERM, ShutdownSignal.SIGINT];

/** The one way in which an app starts, and stops at SIGTERM or SIGINT by the lifecycle hooks of its modules. */
export async function boot<App extends INestApplicationContext, Settings extends ServerSettings>(
  bootable: Bootable<App, Settings>,
): Promise<void> {
  stopWithParent();
  try {
    await start(bootable);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

async function start<App extends INestApplicationContext, Settings extends ServerSettings>(
  bootable: Bootable<App, Settings>,
): Promise<void> {
  const settings = bootable.settings();
  const { DATABASE_URL, REDIS_URL, S3_BUCKET, S3_ENDPOINT } = settings;
  void unreachable({ DATABASE_URL, REDIS_URL, S3_ENDPOINT: S3_BUCKET && S3_ENDPOINT }).then((lines) =>
    lines.forEach((line) => process.stderr.write(`${line}\n`)),
  );
  // Buffered until the app's own log is there. What Nest says about a failed start is dropped: `boot` says it.
  const options = { bufferLogs: true, autoFlushLogs: false, abortOnError: false };
  const app = await bootable.create(options, settings);
  const log = app.get<Log>(LOG);
  app.useLogger(nestLogger(log));
  app.flushLogs();
  const { message, ...facts } = await bootable.start(app, settings);
  log.info({ ...facts, internal: app.get(InternalServer).address }, message);

  const closeMs = bootable.closeMs(settings);
  for (const signal of stopSignals) process.once(signal, () => exitAfter(closeMs, log));
  app.enableShutdownHooks(stopSignals, { useProcessExit: true });
  process.on('SIGHUP', () => void bootable.reload(app));
}

function exitAfter(ms: number, log: Log): void {
  setTimeout(() => {
    log.warn({ within_ms: ms }, 'the process could not stop in time');
    process.exit(1);
  }, ms).unref();
}

/** Anything but a `StartupError` is a fault of the program, and shows where it came from. */
function explain(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  return String(error instanceof Error ? error.stack : error);
}

/**
 * A process that was started by the local launcher holds an IPC channel to it. When the channel closes, the launcher
 * is gone, perhaps killed: stop as at SIGTERM, within three seconds.
 */
function stopWithParent(): void {
  if (!process.channel) return;
  process.channel.unref();
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 3_000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}

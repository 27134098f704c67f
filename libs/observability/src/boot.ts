import { setFlagsFromString } from 'node:v8';
import { StartupError } from '#errors';
import { type INestApplicationContext, type NestApplicationOptions, ShutdownSignal } from '@nestjs/common';
import { InternalServer } from './internal-server.js';
import { type Log, LOG, nestLogger } from './log.js';
import { releaseText } from './release.js';
import { unreachable } from './reachability.js';
import { showSourceLines } from './source-lines.js';

/**
 * The servers that an app needs. Those that do not accept a connection are reported on standard error at
 * once, because the app itself retries for longer, and starts without some of them.
 */
interface ServerSettings {
  DATABASE_URL: string;
  REDIS_URL?: string | undefined;
  S3_BUCKET?: string | undefined;
  S3_ENDPOINT?: string | undefined;
}

interface Bootable<App extends INestApplicationContext, Settings extends ServerSettings> {
  /** Reads the environment. A `StartupError` here or in `create` ends the start with its message. */
  settings(): Settings;
  /** Creates the app with these options. */
  create(options: NestApplicationOptions, settings: Settings): Promise<App>;
  /** Starts the app's work. Returns the message of the log line about the start, and its other fields. */
  start(app: App, settings: Settings): Promise<{ message: string }>;
  /** How long a stop may take in total. After that the process exits with code 1. */
  closeMs(settings: Settings): number;
  /** Reloads the catalog on SIGHUP. It never rejects. */
  reload(app: App): Promise<void>;
}

// V8 may decide to allocate the objects of single calls among long-lived ones, where they survive until the
// next full collection. It did so in three of four processes, and cost a busy gateway a fifth of its time and
// twice its memory.
setFlagsFromString('--no-allocation-site-pretenuring');

const stopSignals = [ShutdownSignal.SIGTERM, ShutdownSignal.SIGINT];

/**
 * Starts an app, or prints its version for `--version`. On SIGTERM or SIGINT it stops the app through the lifecycle hooks of its modules. A second signal ends
 * the process at once.
 */
export async function boot<App extends INestApplicationContext, Settings extends ServerSettings>(
  bootable: Bootable<App, Settings>,
): Promise<void> {
  if (process.argv[2] === '--version') return void process.stdout.write(`${releaseText}\n`);
  showSourceLines();
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
  // Nest's messages are buffered until the app's own log exists. Those about a failed start are dropped,
  // because `boot` reports it.
  const options = { bufferLogs: true, autoFlushLogs: false, abortOnError: false };
  const app = await bootable.create(options, settings);
  const log = app.get<Log>(LOG);
  app.useLogger(nestLogger(log));
  app.flushLogs();
  const { message, ...facts } = await bootable.start(app, settings);
  log.info({ ...facts, internal: app.get(InternalServer).address }, message);

  const closeMs = bootable.closeMs(settings);
  let isStopping = false;
  const stop = () => {
    if (isStopping) exit(log, {}, 'the process got a second signal, exiting');
    isStopping = true;
    setTimeout(
      exit,
      closeMs,
      log,
      { within_ms: closeMs },
      'the process did not stop in time, exiting',
    ).unref();
  };
  for (const signal of stopSignals) process.on(signal, stop);
  app.enableShutdownHooks(stopSignals, { useProcessExit: true });
  process.on('SIGHUP', () => void bootable.reload(app));
}

/** Exits without waiting for the lifecycle hooks. */
function exit(log: Log, facts: object, message: string): never {
  log.warn(facts, message);
  process.exit(1);
}

/** Any error other than a `StartupError` is a bug, so its stack trace is shown. */
function explain(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  return String(error instanceof Error ? error.stack : error);
}

/**
 * A process that the local launcher started has an IPC channel to it. When the channel closes, the launcher
 * has exited or was killed, so the process stops as on SIGTERM, within three seconds.
 */
function stopWithParent(): void {
  if (!process.channel) return;
  process.channel.unref();
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), 3_000).unref();
    process.kill(process.pid, 'SIGTERM');
  });
}

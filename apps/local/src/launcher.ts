import path from 'node:path';
import { BadSettings, readSettings } from '#schemas';
import { checkout } from './checkout.js';
import { Cleanup } from './cleanup.js';
import { localSettings } from './settings.js';
import { startAll } from './start-all.js';
import { summary } from './summary.js';

/**
 * `npm start`: everything that the service needs, on this machine, until Ctrl-C. Resolves to the exit code:
 * 0 when it was asked to stop, 1 when it could not start or a part of it ended by itself.
 */
export async function launch(env: NodeJS.ProcessEnv): Promise<number> {
  // A terminal that is gone must not end the launcher before it has stopped the rest.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const cleanup = new Cleanup();
  const stopping = new AbortController();
  const asked = untilAskedToStop(env).then(() => 0);
  const served = serve(env, cleanup, stopping.signal).catch((error: unknown) => {
    // What fails after the request to stop fails because of it.
    if (!stopping.signal.aborted) showError(`model-router: ${oneLine(error)}`);
    return 1;
  });
  const code = await Promise.race([asked, served]);
  stopping.abort();
  await cleanup.run();
  return code;
}

async function serve(env: NodeJS.ProcessEnv, cleanup: Cleanup, signal: AbortSignal): Promise<never> {
  const settings = readSettings(localSettings, env);
  const localDir = path.resolve(settings.LOCAL_DIR ?? path.join(checkout, '.local'));
  const { baseUrl, consoleUrl, demo, adminEnvFile, broken } = await startAll({
    env,
    settings,
    localDir,
    cleanup,
    signal,
    show,
    showError,
  });
  show(summary({ baseUrl, consoleUrl, apiKey: demo.api_key, accessToken: demo.access_token, adminEnvFile }));
  return broken;
}

const show = (text: string): void => void process.stdout.write(text);
const showError = (line: string): void => void process.stderr.write(`${line}\n`);

function oneLine(error: unknown): string {
  if (error instanceof BadSettings) return `bad settings: ${error.problems.join('; ')}`;
  if (!(error instanceof Error)) return String(error);
  return (error.message || error.name).replaceAll('\n', ' ');
}

/**
 * Settles at Ctrl-C, SIGTERM, a closed terminal, and when npm has died without forwarding its signal. A
 * launcher that was started without npm may outlive its parent: it is somebody's background job.
 */
function untilAskedToStop(env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    if (env['npm_lifecycle_event'] === undefined) return;
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve();
    }, 500).unref();
  });
}

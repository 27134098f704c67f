import path from 'node:path';
import { BadSettings, readSettings } from '#schemas';
import { checkout } from './checkout.js';
import { Cleanup } from './cleanup.js';
import { raise } from './installation.js';
import { localSettings } from './settings.js';
import { Steps } from './steps.js';
import { untilAskedToStop } from './stop-signals.js';
import { welcome } from './welcome.js';

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
    if (!stopping.signal.aborted) complain(`model-router: ${oneLine(error)}`);
    return 1;
  });
  const code = await Promise.race([asked, served]);
  stopping.abort();
  await cleanup.run();
  return code;
}

async function serve(env: NodeJS.ProcessEnv, cleanup: Cleanup, signal: AbortSignal): Promise<never> {
  const settings = readSettings(localSettings, env);
  const { baseUrl, demo, readyFile, broken } = await raise({
    env,
    settings,
    wantedFolder: path.resolve(settings.LOCAL_DIR ?? path.join(checkout, '.local')),
    cleanup,
    signal,
    steps: new Steps(say, signal),
    complain,
  });
  say(welcome({ baseUrl, apiKey: demo.api_key, accessToken: demo.access_token, readyFile }));
  return broken;
}

const say = (text: string): void => void process.stdout.write(text);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

function oneLine(error: unknown): string {
  if (error instanceof BadSettings) return `bad settings: ${error.problems.join('; ')}`;
  if (!(error instanceof Error)) return String(error);
  return (error.message || error.name).replaceAll('\n', ' ');
}

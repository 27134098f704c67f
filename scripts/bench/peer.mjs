// A stateless gateway from npm to compare with. It is installed in a folder of its own and is not a dependency of
// ours.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../dist/apps/local/src/ports.js';
import { until } from './service.mjs';
import { isShort } from './size.mjs';

const name = '@portkey-ai/gateway';
const version = '1.15.2';

/**
 * Returns its address, its pid, and a request that it forwards to the provider as OpenAI's; null if it cannot be
 * installed.
 */
export async function startPeer(providerUrl, body) {
  const folder = path.join(tmpdir(), `bench-peer-${version}`);
  const main = path.join(folder, 'node_modules', name, 'build/start-server.js');
  // A short run judges no times, so it needs no peer and no network.
  if (isShort) return null;
  if (!existsSync(main)) {
    mkdirSync(folder, { recursive: true });
    const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', [...install, `${name}@${version}`]).catch(() => {});
    if (!existsSync(main)) return null;
  }
  const port = await freePort();
  const child = spawn(process.execPath, [main, `--port=${port}`, '--headless'], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => void child.kill('SIGTERM');
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await until(answers, 'the peer').catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    url,
    pid: child.pid,
    stop,
    request: {
      method: 'POST',
      path: '/v1/images/generations',
      headers: {
        'content-type': 'application/json',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${providerUrl}/openai`,
        authorization: 'Bearer bench',
      },
      body,
    },
  };
}

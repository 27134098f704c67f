import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { freePort } from '../harness/ports.js';
import { temporaryFolder, trackChild, waitFor } from '../harness/index.js';
import { withRedis } from './wiped.js';

/** A cluster of one node, which rejects commands that span several slots, like a large cluster. */
export async function startRedisCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = temporaryFolder('redis-cluster');
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const child = spawn(
    process.env['TEST_REDIS_SERVER'] ?? '',
    [
      ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--dir', folder],
      ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    ].flat(),
    { stdio: 'ignore' },
  );
  trackChild(child, 'redis cluster');
  const exited = once(child, 'exit');
  const ask = (...command: [string, ...string[]]) => withRedis(url, (client) => client.call(...command));
  await waitFor(() => ask('PING'), { withinMs: 20_000, what: 'a Redis node' });
  await ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const state = async () => String(await ask('CLUSTER', 'INFO')).includes('cluster_state:ok');
  await waitFor(state, { withinMs: 20_000, what: 'a Redis cluster' });
  return {
    url,
    stop: async () => {
      // It closes the connection without an answer.
      await ask('SHUTDOWN', 'NOSAVE').catch(() => {});
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

import { afterAll, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { failOnLeftovers } from '../../harness/index.js';
import { installationFolder, launch, removeInstallation, type Ready } from './launched.js';

describe('the demo credentials', () => {
  const folder = installationFolder();
  afterAll(() => removeInstallation(folder));

  it('are created again for a database that does not know them', async () => {
    const before = await startAndStop();
    rmSync(path.join(folder, 'postgres'), { recursive: true });
    const after = await startAndStop();
    expect(after.api_key).not.toBe(before.api_key);
  });

  it('get a new token when the secret that signs tokens has changed', async () => {
    const before = await startAndStop();
    const after = await startAndStop({ JWT_SECRET: 'another secret of at least 32 characters' });
    expect(after.access_token).not.toBe(before.access_token);
  });

  /** The launcher is ready only if the gateway accepts both credentials. */
  async function startAndStop(env: Record<string, string> = {}): Promise<Ready> {
    const launched = await launch({ folder, env });
    const ready = await launched.ready();
    launched.kill('SIGTERM');
    expect(await launched.ended).toBe(0);
    return ready;
  }
});

failOnLeftovers();

import { afterAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Client } from 'pg';
import { least } from '../../harness/faults.js';
import { failOnLeftovers } from '../../harness/index.js';
import { installationFolder, launch, nothingLeft, removeInstallation } from './launched.js';

describe('npm start that cannot start', () => {
  const folder = installationFolder();
  afterAll(() => removeInstallation(folder));

  it('reports a busy port before it starts anything', async () => {
    const holder = net.createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as net.AddressInfo;
    const launched = await launch({ folder, port });
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toBe(`model-router: Port ${port} is in use. Set PORT to another one.\n`);
    expect(launched.out()).toBe('');
    await nothingLeft(folder, 1_000);
    holder.close();
  });

  it('reports a LOCAL_DIR that cannot be written', async () => {
    const file = path.join(folder, 'a-file');
    writeFileSync(file, '');
    const launched = await launch({ folder: path.join(file, 'below') });
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toBe(
      `model-router: The folder ${file}/below is not writable (ENOTDIR). Set LOCAL_DIR to another folder.\n`,
    );
  });

  it('names all configured servers that it cannot reach', async () => {
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:2' };
    const launched = await launch({ folder, env });
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toBe(
      'model-router: DATABASE_URL: nothing answers at 127.0.0.1:1 (ECONNREFUSED). REDIS_URL: nothing answers at 127.0.0.1:2 (ECONNREFUSED).\n',
    );
    await nothingLeft(folder, 1_000);
  });

  it.each<Record<string, string>>([
    { DATABASE_URL: 'postgres://nobody:none@127.0.0.1:1/none' },
    { REDIS_URL: 'redis://127.0.0.1:1' },
    {
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_BUCKET: 'none',
      S3_ACCESS_KEY_ID: 'key',
      S3_SECRET_ACCESS_KEY: 'secret',
    },
  ])('names the configured server that it cannot reach: %j', async (env) => {
    const [setting] = Object.keys(env);
    const tookMs = await least(5_000, async () => {
      const startedMs = performance.now();
      const launched = await launch({ folder, env });
      expect(await launched.ended).toBe(1);
      expect(launched.error()).toBe(
        `model-router: ${setting}: nothing answers at 127.0.0.1:1 (ECONNREFUSED).\n`,
      );
      return performance.now() - startedMs;
    });
    expect(tookMs).toBeLessThan(5_000);
    await nothingLeft(folder, 1_000);
  });

  it('names the invalid setting', async () => {
    const launched = await launch({ folder, env: { PORT: 'eighty' } });
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toMatch(/^model-router: bad settings: PORT: .*\n$/);
  });

  it('rejects a folder that another launcher uses, and does not disturb it', async () => {
    const first = await launch({ folder });
    const ready = await first.ready();
    const second = await launch({ folder });
    expect(await second.ended).toBe(1);
    expect(second.error()).toMatch(new RegExp(`^model-router: Already running as pid ${first.pid} on .*\n$`));
    const reply = await fetch(`${ready.base_url}/health/ready`);
    expect(reply.status).toBe(200);
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
  });

  it('reports data of another version, and how to remove it', async () => {
    const made = await launch({ folder });
    const client = new Client({ connectionString: (await made.ready()).database_url });
    await client.connect();
    await client.query(`UPDATE typeorm_metadata SET value = 'other' WHERE type = 'MIGRATION'`);
    await client.end();
    made.kill('SIGTERM');
    expect(await made.ended).toBe(0);
    const launched = await launch({ folder });
    expect(await launched.ended).toBe(1);
    expect(launched.error()).toBe(
      `model-router: The data in ${folder} was made by another version. Remove this folder, set LOCAL_DIR to another one, or carry the data over (docs/operations/carry-over.md).\n`,
    );
    await nothingLeft(folder, 1_000);
  });
});

failOnLeftovers();

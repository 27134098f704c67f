import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { pathOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { failOnLeftovers } from '../harness/index.js';
import { freePort } from '../harness/ports.js';

const { describeWith } = await withTools('pg_createcluster');
const script = pathOf('k8s/components/backup/backup.sh');
const run = promisify(execFile);

/** Runs a command as the account of Debian's clusters. */
const asPostgres = async (command: string, env: Record<string, string> = {}) => {
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { stdout } = await run('runuser', ['-u', 'postgres', '--', 'env', ...words, 'sh', '-c', command], {
    cwd: '/',
    timeout: 300_000,
  });
  return stdout.trim();
};

const query = (url: string, text: string) => asPostgres(`psql -XAtqd '${url}' -c "${text}"`);

describeWith(
  'backup.sh on a cluster of Debian’s package, whose configuration is outside its data folder',
  () => {
    let version: string;
    let folder: string;
    const made: string[] = [];

    const cluster = async (name: string) => {
      const port = await freePort();
      await run('pg_createcluster', [version, name, '--port', String(port)]);
      made.push(name);
      return {
        port,
        data: `/var/lib/postgresql/${version}/${name}`,
        url: `postgres:///postgres?host=/var/run/postgresql&port=${port}`,
      };
    };
    const control = (name: string, action: string) =>
      run('pg_ctlcluster', [version, name, action, ...(action === 'start' ? ['--', '-t', '300'] : [])]);

    beforeAll(async () => {
      version = /\d+/.exec((await run('pg_basebackup', ['--version'])).stdout)?.[0] ?? '';
      folder = mkdtempSync(path.join(os.tmpdir(), 'debian-'));
      await run('chown', ['postgres', folder]);
      await run('chmod', ['755', folder]);
    });
    afterAll(async () => {
      for (const name of made) await run('pg_dropcluster', ['--stop', version, name]).catch(() => {});
      rmSync(folder, { recursive: true, force: true });
    });

    it('restores into a new cluster, and into a bare folder with the configuration of the old one', async () => {
      const old = await cluster('router_old');
      // A recovery refuses a smaller number than that of the server that wrote the log.
      await run('pg_conftool', [version, 'router_old', 'set', 'max_connections', '170']);
      await control('router_old', 'start');
      await query(
        old.url,
        `CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id;
       CREATE FUNCTION record_backup(text, jsonb) RETURNS void LANGUAGE sql AS 'SELECT'`,
      );
      const env = { BACKUP_DIR: path.join(folder, 'backups'), BACKUP_URL: `'${old.url}'` };
      await asPostgres(`BACKUP_URL=${env.BACKUP_URL} ${script} base`, { BACKUP_DIR: env.BACKUP_DIR });
      const [base = ''] = readdirSync(path.join(env.BACKUP_DIR, 'base'));
      expect(readdirSync(path.join(env.BACKUP_DIR, 'config', base)).toSorted()).toEqual([
        'least.conf',
        'pg_hba.conf',
        'pg_ident.conf',
        'postgresql.conf',
      ]);
      await control('router_old', 'stop');

      const restored = await cluster('router_restored');
      await asPostgres(`rm -rf ${restored.data}/* && ${script} restore ${restored.data}`, {
        BACKUP_DIR: env.BACKUP_DIR,
      });
      await control('router_restored', 'start');
      expect(await query(restored.url, 'SELECT count(*), pg_is_in_recovery() FROM kept')).toBe('1000|f');
      expect(await query(restored.url, 'SHOW max_connections')).toBe('170');
      await control('router_restored', 'stop');

      const bare = path.join(folder, 'bare');
      await run('install', ['-d', '-o', 'postgres', '-m', '700', bare]);
      const programs = `/usr/lib/postgresql/${version}/bin`;
      const pgCtl = `${programs}/pg_ctl --pgdata=${bare} --log=${folder}/log`;
      await asPostgres(`${script} restore ${bare} && ${pgCtl} --timeout=300 start`, {
        BACKUP_DIR: env.BACKUP_DIR,
      });
      expect(await query(old.url, 'SELECT count(*), pg_is_in_recovery() FROM kept')).toBe('1000|f');
      await asPostgres(`${pgCtl} stop`);
    });
  },
);

failOnLeftovers();

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { checkout } from '../../apps/local/src/checkout.js';
import { freePort, System } from '../harness/faults.js';
import { failOnLeftovers, temporaryFolder, trackChild, transports, waitFor } from '../harness/index.js';

/** An authority of our own, a certificate of it for 127.0.0.1, and one for a client called router. */
class Certificates {
  readonly folder = temporaryFolder('certificates');
  readonly authority = this.path('ca.crt');

  constructor() {
    this.openssl('req', '-x509', ...this.newKey('ca'), '-subj', '/CN=test authority', '-out', this.authority);
    writeFileSync(this.path('server.ext'), 'subjectAltName=IP:127.0.0.1');
    for (const name of ['server', 'client']) {
      const subject = name === 'client' ? '/CN=router' : '/CN=test server';
      this.openssl('req', ...this.newKey(name), '-subj', subject, '-out', this.path(`${name}.csr`));
      this.openssl(
        'x509',
        '-req',
        '-in',
        this.path(`${name}.csr`),
        '-CA',
        this.authority,
        '-CAkey',
        this.path('ca.key'),
        '-CAcreateserial',
        '-days',
        '2',
        '-out',
        this.path(`${name}.crt`),
        ...(name === 'server' ? ['-extfile', this.path('server.ext')] : []),
      );
    }
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }

  private newKey(name: string): string[] {
    return ['-newkey', 'rsa:2048', '-nodes', '-keyout', this.path(`${name}.key`)];
  }

  private openssl(...words: string[]): void {
    execFileSync('openssl', words, { stdio: 'pipe', timeout: 60_000 });
  }
}

/** Postgres reads its key only if the file belongs to the account that it runs as. */
async function encrypt(system: System, certificates: Certificates): Promise<void> {
  const folder = path.join(system.postgres.folder, 'postgres/data');
  const { uid, gid } = statSync(folder);
  for (const name of ['ca.crt', 'server.crt', 'server.key']) {
    const file = path.join(folder, name);
    copyFileSync(certificates.path(name), file);
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  const settings = {
    ssl_ca_file: 'ca.crt',
    ssl_cert_file: 'server.crt',
    ssl_key_file: 'server.key',
    ssl: 'on',
  };
  for (const [name, value] of Object.entries(settings))
    await system.sql(`ALTER SYSTEM SET ${name} = '${value}'`);
  await system.sql('SELECT pg_reload_conf()');
  const isOn = async () => (await system.sql<{ ssl: string }>('SHOW ssl'))[0]?.ssl === 'on';
  await waitFor(isOn, { withinMs: 20_000, what: 'Postgres to accept TLS' });
  // Only the apps under test use this role.
  await system.sql(`CREATE ROLE encrypted LOGIN SUPERUSER PASSWORD 'test'`);
}

function urlOf(system: System, more: Record<string, string> = {}): string {
  const url = new URL(system.database.url);
  url.username = 'encrypted';
  url.password = 'test';
  url.search = new URLSearchParams({ sslmode: 'verify-full', ...more }).toString();
  return url.href;
}

/** Stores an object in a process of its own, because Node reads the authority only at its start. */
async function put(port: number, env: Record<string, string>): Promise<number | null> {
  const program = `
    import { createStore, storageSettings } from '#storage';
    import { readSettings } from '#schemas';
    const { store } = await createStore(readSettings(storageSettings, process.env));
    const facts = { mediaType: 'text/plain', signal: AbortSignal.timeout(20000) };
    await store.put('some/object', Buffer.from('text'), facts).catch((error) => {
      console.error(error);
      process.exit(1);
    });
    process.exit(0);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: checkout,
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      S3_BUCKET: 'assets',
      S3_ENDPOINT: `https://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'test',
      S3_SECRET_ACCESS_KEY: 'test',
      SIGNING_SECRET: 'a-secret-of-at-least-32-characters',
      ...env,
    },
  });
  trackChild(child, 'a process that stores an object');
  return (await once(child, 'exit'))[0] as number | null;
}

describe('TLS with a private certificate authority', () => {
  const certificates = new Certificates();
  const trusted = { NODE_EXTRA_CA_CERTS: certificates.authority };
  let system: System;

  beforeAll(async () => {
    system = await System.start({ transport: 'postgres', gateways: 0, workers: 0, ownPostgres: true });
    await encrypt(system, certificates);
  });
  afterAll(async () => {
    await system.stop();
    rmSync(certificates.folder, { recursive: true });
  });
  failOnLeftovers();

  it('an app without the authority does not start', async () => {
    const worker = await system.spawnWorker({ DATABASE_URL: urlOf(system) });
    await expect(worker.ready).rejects.toThrow(/unable to verify|self-signed certificate/i);
    system.forget(worker);
    system.apps.splice(system.apps.indexOf(worker), 1);
  });

  it('gateway and worker serve a run over encrypted connections', async () => {
    const env = { ...trusted, DATABASE_URL: urlOf(system) };
    await system.startGateway(env);
    await system.startWorker(env);
    const caller = await system.caller();
    const run = await caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: 'a cat' }));
    await caller.completed(run);
    const connections = await system.sql<{ ssl: boolean }>(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'encrypted'`,
    );
    expect(connections.length).toBeGreaterThan(2);
    expect(connections.filter(({ ssl }) => !ssl)).toEqual([]);
  });

  it('the URL may name the authority and a client certificate', async () => {
    const files = {
      sslrootcert: certificates.authority,
      sslcert: certificates.path('client.crt'),
      sslkey: certificates.path('client.key'),
    };
    await system.startGateway({ DATABASE_URL: urlOf(system, files) });
    const [named] = await system.sql<{ count: string }>(
      `SELECT count(*) FROM pg_stat_ssl WHERE client_dn = '/CN=router'`,
    );
    expect(Number(named?.count)).toBeGreaterThan(0);
  });

  it.each(transports().filter((kind) => kind === 'redis'))('%s is reached by rediss://', async () => {
    const port = await freePort();
    const server = spawn(
      process.env['TEST_REDIS_SERVER'] ?? '',
      [
        '--port',
        '0',
        '--tls-port',
        `${port}`,
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--tls-cert-file',
        certificates.path('server.crt'),
        '--tls-key-file',
        certificates.path('server.key'),
        '--tls-ca-cert-file',
        certificates.authority,
        '--tls-auth-clients',
        'no',
        '--maxmemory-policy',
        'noeviction',
        '--dir',
        certificates.folder,
      ],
      { stdio: 'ignore' },
    );
    trackChild(server, `redis ${port}`);
    const ended = once(server, 'exit');
    try {
      const env = { ...trusted, REDIS_URL: `rediss://127.0.0.1:${port}` };
      await Promise.all([system.startGateway(env), system.startWorker(env)]);
      const untrusting = await system.spawnWorker({ REDIS_URL: env.REDIS_URL });
      const isRefused = () => /certificate/.test(untrusting.logs());
      await waitFor(isRefused, { withinMs: 60_000, what: 'a worker to reject the certificate' });
      await untrusting.stop();
    } finally {
      server.kill('SIGTERM');
      await ended;
    }
  });

  it('a bucket is reached at an https endpoint', async () => {
    const received: string[] = [];
    const server = createServer(
      {
        cert: readFileSync(certificates.path('server.crt')),
        key: readFileSync(certificates.path('server.key')),
      },
      (request, response) => {
        received.push(`${request.method} ${request.url}`);
        request.resume().on('end', () => response.writeHead(200, { etag: '"a"' }).end());
      },
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect(await put(port, {})).not.toBe(0);
      expect(received).toEqual([]);
      expect(await put(port, trusted)).toBe(0);
      expect(received[0]).toMatch(/^PUT \/assets\/some\/object/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

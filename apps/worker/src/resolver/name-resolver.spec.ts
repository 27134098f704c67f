import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NameServer } from '../../../../test/harness/name-server.js';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { HostsFile } from './hosts-file.js';
import { NameResolver } from './name-resolver.js';

const records = {
  'both.test': { a: ['93.184.216.34'], aaaa: ['2606:2800:220:1:248:1893:25c8:1946'] },
  'four.test': { a: ['93.184.216.34', '93.184.216.35'] },
  'six.test': { aaaa: ['2606:2800:220:1:248:1893:25c8:1946'] },
  'alias.test': { cname: 'both.test' },
  'empty.test': {},
};
const hosts = `127.0.0.1 localhost
# 192.0.2.7 commented.test
10.1.2.3\tDatabase.internal  db   # of the pod
2001:db8::1 db
not-an-address broken.test
`;

let server: NameServer;
let folder: string;
let hostsPath: string;
let nowMs: number;
let names: NameResolver;
beforeEach(async () => {
  server = await NameServer.start(records);
  folder = mkdtempSync(path.join(os.tmpdir(), 'hosts-'));
  hostsPath = path.join(folder, 'hosts');
  writeFileSync(hostsPath, hosts);
  nowMs = 1_000_000;
  const clock = () => nowMs;
  names = new NameResolver({ CALLER_DNS_SERVERS: [server.address] }, new HostsFile(hostsPath, clock), clock);
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const resolve = async (name: string, signal = new AbortController().signal, workspaceId = 'w') =>
  (await names.resolve(name, { workspaceId, signal })).map(({ address }) => address);
const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'resolved',
    (error: NodeJS.ErrnoException) => error.code,
  );

describe('a name from a caller', () => {
  it.each([
    ['both.test', ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946']],
    ['Four.Test.', ['93.184.216.34', '93.184.216.35']],
    ['six.test', ['2606:2800:220:1:248:1893:25c8:1946']],
    ['alias.test', ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946']],
  ])('resolves to the addresses of both families, through an alias too: %s', async (name, addresses) => {
    expect(await resolve(name)).toEqual(addresses);
    expect(names.known(name).map(({ address }) => address)).toEqual(addresses);
  });

  it('is looked up on the configured servers, once per family', async () => {
    expect(await resolve('both.test')).toHaveLength(2);
    expect(server.asked.toSorted()).toEqual(['a both.test', 'aaaa both.test']);
  });

  it.each(['missing.test', 'empty.test', `${'x'.repeat(70)}.test`])(
    'is not looked up again for a minute if it has no address: %s',
    async (name) => {
      expect(await codeOf(resolve(name))).toBe('ENOTFOUND');
      const { length } = server.asked;
      nowMs += 59_000;
      expect(await codeOf(resolve(name, undefined, 'another workspace'))).toBe('ENOTFOUND');
      expect(server.asked).toHaveLength(length);
      nowMs += 2_000;
      expect(await codeOf(resolve(name))).toBe('ENOTFOUND');
      expect(server.asked).toHaveLength(2 * length);
    },
  );

  it('is not looked up if it is longer than DNS allows', async () => {
    expect(await codeOf(resolve('a.'.repeat(200)))).toBe('ENOTFOUND');
    expect(server.asked).toEqual([]);
  });

  it('is looked up once, however many callers wait for it', async () => {
    await Promise.all(Array.from({ length: 20 }, () => resolve('both.test')));
    expect(server.asked).toHaveLength(2);
  });

  it('is fully qualified: no search domain is tried', async () => {
    expect(await codeOf(resolve('single-label'))).toBe('ENOTFOUND');
    expect(new Set(server.asked)).toEqual(new Set(['a single-label', 'aaaa single-label']));
  });

  it('holds up only its own workspace if no server answers, and stops waiting when the signal aborts', async () => {
    const ended = new AbortController();
    setMaxListeners(0, ended.signal);
    const silent = Array.from({ length: 30 }, (_, index) =>
      codeOf(resolve(`name-${index}.silent`, ended.signal, 'a')),
    );
    await waitFor(() => new Set(server.asked).size >= 16, { withinMs: 20_000, what: 'eight look-ups' });
    expect(await resolve('both.test', undefined, 'b')).toHaveLength(2);
    // Eight names at once, each in both families. Attempts are repeated, and the ninth name waits.
    expect(new Set(server.asked.filter((name) => name.endsWith('silent'))).size).toBe(16);
    const behind = resolve('four.test', undefined, 'a');
    ended.abort();
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['EAI_AGAIN']));
    expect(await behind).toHaveLength(2);
    // The caller gave up, which says nothing about the name, so it is looked up again.
    const again = new AbortController();
    const { length } = server.asked;
    const repeated = codeOf(resolve('name-0.silent', again.signal, 'a'));
    await waitFor(() => server.asked.length > length, { withinMs: 20_000, what: 'a look-up' });
    again.abort();
    expect(await repeated).toBe('EAI_AGAIN');
  });

  it('is still looked up for the other callers when one gives up', async () => {
    const gone = new AbortController();
    const first = codeOf(resolve('name.silent', gone.signal));
    const second = new AbortController();
    const other = codeOf(resolve('name.silent', second.signal));
    await waitFor(() => server.asked.length >= 2, { withinMs: 20_000, what: 'a look-up' });
    gone.abort();
    expect(await first).toBe('EAI_AGAIN');
    expect(await Promise.race([other, resolve('both.test', undefined, 'b')])).toHaveLength(2);
    second.abort();
    expect(await other).toBe('EAI_AGAIN');
  });
});

describe('the hosts file', () => {
  it.each([
    ['db', ['10.1.2.3', '2001:db8::1']],
    ['database.INTERNAL', ['10.1.2.3']],
    ['localhost', ['127.0.0.1']],
    ['app.localhost', ['127.0.0.1', '::1']],
  ])('takes precedence over DNS servers: %s', async (name, addresses) => {
    expect(await resolve(name)).toEqual(addresses);
    expect(server.asked).toEqual([]);
  });

  it('is read again when it has changed, at most every five seconds', async () => {
    expect(await codeOf(resolve('commented.test'))).toBe('ENOTFOUND');
    writeFileSync(hostsPath, '192.0.2.7 commented.test new.test\n');
    expect(await codeOf(resolve('new.test'))).toBe('ENOTFOUND');
    nowMs += 5_000;
    expect(await resolve('new.test')).toEqual(['192.0.2.7']);
    expect(await resolve('commented.test')).toEqual(['192.0.2.7']);
    expect(await codeOf(resolve('db'))).toBe('ENOTFOUND');
  });

  it('is read up to a limit, and lists nothing if it is missing', async () => {
    writeFileSync(hostsPath, `192.0.2.1 first.test\n${'#\n'.repeat(1024 * 1024)}192.0.2.2 last.test\n`);
    expect(await resolve('first.test')).toEqual(['192.0.2.1']);
    expect(await codeOf(resolve('last.test'))).toBe('ENOTFOUND');
    const missing = new HostsFile(path.join(hostsPath, 'missing'));
    expect(await missing.addressesOf('db')).toEqual([]);
  });
});

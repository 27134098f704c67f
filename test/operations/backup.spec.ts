import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { backupState, type Database, migrate } from '#persistence';
import { answerOf, runAdmin } from '../admin/run-admin.js';
import { pathOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { failOnLeftovers, waitFor } from '../harness/index.js';
import { freePort } from '../harness/ports.js';
import { operatorDatabase } from '../harness/long-timeouts.js';

const { describeWith } = await withTools('pg_basebackup');
const script = pathOf('k8s/components/backup/backup.sh');
/** The base backup, the log after it, and the log that is replayed, at this many finished runs. */
const records = Number(process.env['BACKUP_RECORDS'] ?? 20_000);
const run = promisify(execFile);

/** Postgres refuses to run as root. */
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const count = async (url: string) =>
  Number((await run('psql', ['-XAtqd', url, '-c', 'SELECT count(*) FROM audit_record'])).stdout);

const insertRuns = (url: string) =>
  run(process.execPath, [pathOf('scripts/bench/finished-runs.mjs'), url, String(records)]);

/** A Postgres of the same version as the programs that back it up. */
class Server {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly programs: string,
    readonly data: string,
    readonly port: number,
  ) {}

  static async make(data: string): Promise<Server> {
    // Debian's wrapper chooses among the versions that are installed.
    const { stdout } = await run('pg_config', ['--bindir']);
    return new Server(stdout.trim(), data, await freePort());
  }

  get url(): string {
    return `postgres://router@127.0.0.1:${this.port}/postgres`;
  }

  async initialise(): Promise<void> {
    const words = ['--username=router', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    await run(path.join(this.programs, 'initdb'), [`--pgdata=${this.data}`, ...words], {
      ...account,
      cwd: '/',
    });
  }

  /** With other settings than the default, a server that is restored must know them. */
  async start(...settings: string[]): Promise<void> {
    const words = [
      '-D',
      this.data,
      '-c',
      `port=${this.port}`,
      '-c',
      'listen_addresses=127.0.0.1',
      ...settings,
    ];
    this.process = spawn(
      path.join(this.programs, 'postgres'),
      [...words, '-c', 'unix_socket_directories=', '-c', 'max_wal_size=4GB'],
      { ...account, cwd: '/', stdio: 'ignore' },
    );
    const started = this.process;
    await waitFor(
      () =>
        run('psql', ['-XAtqd', this.url, '-c', 'SELECT NOT pg_is_in_recovery()']).then(
          ({ stdout }) => stdout === 't\n',
          (error: unknown) => {
            if (started.exitCode !== null) throw new Error('Postgres has ended', { cause: error });
            return false;
          },
        ),
      { withinMs: 120_000, what: 'Postgres to accept writes', everyMs: 100 },
    );
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const { process: ended } = this;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exit = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill(signal);
    await exit;
  }
}

describeWith('backup.sh', () => {
  let folder: string;
  let backups: string;
  let server: Server;
  let database: Database;
  let log: ChildProcess | undefined;

  const env = (more: Record<string, string> = {}) => ({
    ...process.env,
    BACKUP_DIR: backups,
    BACKUP_URL: server.url,
    ...more,
  });
  const backup = (words: string[], more: Record<string, string> = {}) =>
    run('sh', [script, ...words], { env: env(more), timeout: 1_800_000 });
  const refusal = async (words: string[], more: Record<string, string> = {}) => {
    const refused = await backup(words, more).catch((error: unknown) => error as { stderr: string });
    return refused.stderr;
  };
  const base = () => path.join(backups, 'base');
  const now = async () =>
    (
      await run('psql', [
        '-XAtqd',
        server.url,
        '-c',
        'SELECT to_char(now() AT TIME ZONE \'utc\', \'YYYY-MM-DD"T"HH24:MI:SS"Z"\')',
      ])
    ).stdout.trim();

  /** Waits for the database's clock to show another second, and returns that. */
  async function nextSecond(): Promise<string> {
    const before = await now();
    await waitFor(async () => (await now()) > before, { withinMs: 10_000, what: 'the next second' });
    return now();
  }

  async function stream(): Promise<void> {
    log = spawn('sh', [script, 'log'], { env: env(), stdio: 'ignore' });
    await waitFor(async () => (await backupState(database)).logStreams === true, {
      withinMs: 30_000,
      what: 'the log to be streamed',
    });
  }
  async function endStream(): Promise<void> {
    if (log === undefined || log.exitCode !== null || log.signalCode !== null) return;
    const exit = new Promise((resolve) => log?.once('exit', resolve));
    log.kill('SIGINT');
    await exit;
  }
  /** Restores into a new folder and starts a Postgres on it. */
  async function restored(time?: string): Promise<Server> {
    const data = path.join(folder, `restored-${process.hrtime.bigint()}`);
    await backup(['restore', data, ...(time === undefined ? [] : [time])]);
    if (account.uid !== undefined)
      execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, data, backups]);
    const other = await Server.make(data);
    await other.start();
    return other;
  }

  beforeAll(async () => {
    // Every account may enter it, unlike the folders of the harness.
    folder = mkdtempSync(path.join(os.tmpdir(), 'backup-'));
    if (account.uid !== undefined) {
      chownSync(folder, account.uid, account.gid);
      execFileSync('chmod', ['755', folder]);
    }
    backups = path.join(folder, 'backups');
    server = await Server.make(path.join(folder, 'data'));
    await server.initialise();
    await server.start('-c', 'max_connections=150');
    database = operatorDatabase(server.url);
    await migrate(await database.dataSource());
  });
  afterAll(async () => {
    await endStream();
    await database?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('knows of no backup until one is recorded', async () => {
    expect(await backupState(database)).toEqual({ lastSeconds: null, logStreams: null });
    const admin = { DATABASE_URL: server.url };
    expect(await answerOf(admin, 'backup', 'show')).toEqual({ last_backup_at: null, log_streams: null });
    const at = '2026-01-31T12:00:00Z';
    expect(await answerOf(admin, 'backup', 'record', '--at', at, '--note', 'snapshot 7')).toEqual({
      last_backup_at: '2026-01-31T12:00:00.000Z',
      log_streams: null,
    });
    expect((await runAdmin(admin, 'backup', 'record', '--at', '2999-01-01')).error).toContain('the future');
    expect(await answerOf(admin, 'audit', '--action', 'backup.record')).toMatchObject({
      actions: [
        { actor: expect.stringMatching(/^admin:/), subject: 'backup', details: { note: 'snapshot 7' } },
      ],
    });
  });

  it('takes a verified base backup and records it, as a role that cannot read any table', async () => {
    await stream();
    await insertRuns(server.url);
    await database.work.query('CREATE ROLE router_backup LOGIN REPLICATION');
    const role = server.url.replace('router@', 'router_backup@');
    const beganMs = Date.now();
    await backup(['base'], { BACKUP_URL: role });
    const tookMs = Date.now() - beganMs;
    const { lastSeconds } = await backupState(database);
    expect((lastSeconds ?? 0) * 1000).toBeGreaterThanOrEqual(beganMs - 2_000);
    const [name = ''] = readdirSync(base());
    expect(await answerOf({ DATABASE_URL: server.url }, 'audit', '--limit', '1')).toMatchObject({
      actions: [{ action: 'backup.record', actor: expect.stringMatching(/^backup:/), details: { name } }],
    });
    const [{ bytes } = { bytes: 0 }] = await database.reads.query<{ bytes: number }>(
      'SELECT pg_database_size(current_database())::float8 AS bytes',
    );
    process.stdout.write(`base backup of ${Math.round(bytes / 1e6)} MB: ${tookMs} ms\n`);
    await expect(run('psql', ['-XAtqd', role, '-c', 'SELECT 1 FROM workspace'])).rejects.toThrow(
      'permission denied',
    );
  });

  it('loses nothing that was committed before the server died, or all after a moment, as the operator chooses', async () => {
    await insertRuns(server.url);
    const moment = await nextSecond();
    await nextSecond();
    await insertRuns(server.url);
    await database.work.query(
      "INSERT INTO operator_action (actor, action, subject, details) VALUES ('x', 'last', 'x', '{}')",
    );
    // The log is synchronous: a commit is in it as soon as the bytes arrive.
    await waitFor(
      async () => {
        const [row] = await database.reads.query<{ behind: number }>(
          'SELECT (pg_current_wal_flush_lsn() - flush_lsn)::float8 AS behind FROM pg_stat_replication',
        );
        return row?.behind === 0;
      },
      { withinMs: 60_000, what: 'the log to arrive' },
    );
    await database.close();
    await server.stop('SIGQUIT');
    await waitFor(() => log?.exitCode === null, {
      withinMs: 1_000,
      what: 'the stream to wait for the server',
    });

    const { stdout: logMB } = await run('du', ['-sm', path.join(backups, 'wal')]);
    const beganMs = Date.now();
    const whole = await restored();
    try {
      process.stdout.write(
        `restore of ${3 * records} runs, two thirds from ${Number.parseInt(logMB, 10)} MB of log: ${Date.now() - beganMs} ms\n`,
      );
      expect(await count(whole.url)).toBe(3 * records);
      const { stdout } = await run('psql', [
        '-XAtqd',
        whole.url,
        '-c',
        "SELECT count(*) FROM operator_action WHERE action = 'last'",
      ]);
      expect(stdout).toBe('1\n');
    } finally {
      await whole.stop();
    }
    const earlier = await restored(moment);
    try {
      expect(await count(earlier.url)).toBe(2 * records);
    } finally {
      await earlier.stop();
    }
    await server.start();
    database = operatorDatabase(server.url);
  });

  it('says when the log stopped', async () => {
    await waitFor(async () => (await backupState(database)).logStreams === true, {
      withinMs: 60_000,
      what: 'the stream to come back by itself',
    });
    await endStream();
    await waitFor(async () => (await backupState(database)).logStreams === false, {
      withinMs: 30_000,
      what: 'the slot to be free',
    });
    await stream();
  });

  it('keeps as many base backups as told, and the log that they need', async () => {
    const [first = ''] = readdirSync(base());
    const logsBefore = readdirSync(path.join(backups, 'wal')).length;
    await backup(['base'], { BACKUP_KEEP: '1' });
    const kept = readdirSync(base());
    expect([kept.length, kept.includes(first)]).toEqual([1, false]);
    expect(readdirSync(path.join(backups, 'wal')).length).toBeLessThan(logsBefore);
    const last = await restored();
    try {
      expect(await count(last.url)).toBe(3 * records);
    } finally {
      await last.stop();
    }
  });

  it('records no backup that is incomplete, and does not restore a damaged one', async () => {
    const before = await backupState(database);
    const unreachable = `postgres://router@127.0.0.1:${await freePort()}/postgres`;
    expect(await refusal(['base'], { BACKUP_URL: unreachable })).toContain('Connection refused');
    expect((await backupState(database)).lastSeconds).toBe(before.lastSeconds);
    const [name = ''] = readdirSync(base());
    expect(await refusal(['restore', base()])).toContain('is not empty');
    expect(await refusal(['restore', path.join(folder, 'x'), 'yesterday'])).toContain('2026-01-31T12:00:00Z');
    expect(await refusal(['restore', path.join(folder, 'x'), '2020-01-31T12:00:00Z'])).toContain(
      'no base backup',
    );
    expect(await refusal(['base'], { BACKUP_DIR: '/tmp/a b' })).toContain('BACKUP_DIR may have only');
    expect(existsSync(path.join(folder, 'x'))).toBe(false);
    writeFileSync(path.join(base(), name, 'global', 'pg_control'), 'damaged');
    expect(await refusal(['restore', path.join(folder, 'y')])).toContain('pg_control');
    expect(existsSync(path.join(folder, 'y', 'recovery.signal'))).toBe(false);
    mkdirSync(path.join(folder, 'z'));
    expect(await refusal(['restore'])).toContain('name the data folder');
  });
});

failOnLeftovers();

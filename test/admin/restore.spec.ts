import { DispatchRepository, StoredObjectRepository } from '#persistence';
import { readSettings } from '#schemas';
import { type AssetStore, createStore, fileKey, runKeys, storageSettings } from '#storage';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { v7 } from 'uuid';
import { temporaryFolder } from '../harness/index.js';
import { provider, RunMaker, succeeded } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface Found {
  objects: number;
  bytes: number;
  deleting: number;
  listed: { key: string; bytes: number }[];
}

interface Changes {
  changes: { actor: string | null; action: string; subject: string; details: object }[];
}

const keysOf = ({ listed }: Found) => listed.map(({ key }) => key).sort();

const hourMs = 3_600_000;
const signal = () => AbortSignal.timeout(120_000);

const assets = temporaryFolder('assets');
const { env: own, database } = await ownDatabase();
const env = {
  ...own,
  ASSET_DIR: assets,
  ASSET_BASE_URL: 'http://assets.test',
  SIGNING_SECRET: 'secret'.repeat(6),
};
const objects = new StoredObjectRepository(database);
const maker = new RunMaker(database);
const recorded = (action: string) =>
  database.reads.query('SELECT subject, details FROM operator_action WHERE action = $1 ORDER BY id', [
    action,
  ]);
const refusal = async (...words: string[]) => {
  const { code, out, error } = await runAdmin(env, 'restore', ...words);
  expect([code, out]).toEqual([1, '']);
  return error;
};
const find = (...words: string[]) => answerOf<Found>(env, 'restore', 'objects', ...words);

describe('admin restore', () => {
  let store: AssetStore;
  let workspaceId: string;

  beforeAll(async () => {
    ({ store } = await createStore(readSettings(storageSettings, env)));
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
  });
  afterAll(async () => {
    await store.close();
    rmSync(assets, { recursive: true, force: true });
  });

  const admit = () => maker.admit({ workspaceId, credential: 'token:ci' });

  const put = async (key: string, hoursAgo: number) => {
    await store.put(key, Buffer.from('body'), { mediaType: 'image/png', signal: signal() });
    const at = new Date(Date.now() - hoursAgo * hourMs);
    utimesSync(path.join(assets, key), at, at);
    return key;
  };

  describe('runs', () => {
    it('presumes that waiting runs were submitted, after the operator agrees, and records it', async () => {
      const [one, other] = [await admit(), await admit()];
      expect(await refusal('runs')).toContain('This ends 2 waiting runs as internal_error');
      expect(await recorded('restore.runs')).toEqual([]);
      expect(await answerOf(env, 'restore', 'runs', '--yes')).toEqual({ runs: 2 });
      const dispatch = new DispatchRepository(database);
      const line = { held: new Map<string, number>(), maxHeld: 10, most: 10, leaseMs: hourMs };
      expect(await dispatch.takeRuns(provider, line)).toEqual([]);
      expect(
        (await dispatch.sweep(10, hourMs)).map(({ kind, runId }) => `${kind} ${runId}`).toSorted(),
      ).toEqual([one, other].map(({ runId }) => `abandoned ${runId}`).toSorted());
      expect(await answerOf(env, 'restore', 'runs')).toEqual({ runs: 0 });
      expect(await recorded('restore.runs')).toEqual([
        { subject: 'runs', details: { runs: 2 } },
        { subject: 'runs', details: { runs: 0 } },
      ]);
    });

    it('refuses while a gateway or worker runs, because it would end the runs of a healthy service', async () => {
      const { runId } = await admit();
      await database.work.query(
        `INSERT INTO process (id, app, host, pid, catalog_revision, seen_at) VALUES ($1, 'worker', 'node-7', 1, '', router_now())`,
        [v7()],
      );
      expect(await refusal('runs', '--yes')).toMatch(
        /^error: Gateways or workers .+ Scale them to 0.+ worker on node-7 at /,
      );
      await database.work.query(`UPDATE process SET seen_at = router_now() - interval '101 seconds'`);
      const line = { held: new Map<string, number>(), maxHeld: 10, most: 10, leaseMs: hourMs };
      expect(await new DispatchRepository(database).takeRuns(provider, line)).toMatchObject([{ runId }]);
    });
  });

  describe('objects', () => {
    it('lists old objects that no row names, and deletes them only if told to', async () => {
      const known = runKeys.input(v7());
      await objects.note(known, v7(), 3600);
      await put(known, 48);
      const lost = [await put(runKeys.output(v7()), 48), await put(fileKey(v7(), '.png'), 25)].sort();
      const young = await put(runKeys.asset(v7(), 0, '.png'), 23);
      await put('others/file', 48);

      const found = await find();
      expect(found).toMatchObject({ objects: 2, bytes: 8, deleting: 0 });
      expect(keysOf(found)).toEqual(lost);
      expect(await find('--limit', '1')).toMatchObject({ objects: 2, listed: [expect.anything()] });
      expect(keysOf(await find('--older-than-hours', '22'))).toEqual([...lost, young].sort());
      const { out } = await runAdmin(env, 'restore', 'objects');
      expect(out).toMatch(/^STORED +BYTES +KEY\n/);
      expect(out).toContain('2 objects without a row, 8 bytes.\n');
      expect(await refusal('objects', '--delete')).toContain(
        `This deletes 2 objects (8 bytes) from ${assets}`,
      );
      expect(await objects.takeDue(10)).toEqual([]);

      expect(await find('--delete', '--yes')).toMatchObject({ objects: 2, deleting: 2 });
      expect(await recorded('restore.objects')).toEqual([
        { subject: assets, details: { objects: 2, bytes: 8 } },
      ]);
      const due = await objects.takeDue(10);
      expect(due.sort()).toEqual(lost);
      expect(await find()).toMatchObject({ objects: 0 });
      await objects.forget(due);
    });

    it('looks them up batch by batch', async () => {
      const before = (await find()).objects;
      const keys = Array.from({ length: 1_500 }, () => runKeys.input(v7()));
      for (const key of keys) {
        const file = path.join(assets, key);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, '');
        utimesSync(file, 0, 0);
      }
      await objects.note(keys[0] ?? '', v7(), 3600);
      const lost = before + keys.length - 1;
      expect(await find('--limit', '0')).toMatchObject({ objects: lost, listed: [] });
      expect(await find('--delete', '--yes')).toMatchObject({ deleting: lost });
      expect(await objects.takeDue(2_000)).toHaveLength(lost);
    });
  });

  it('lists all changes since a time: by operators, and of keys and webhook secrets by anyone', async () => {
    const { prefix } = await answerOf<{ prefix: string }>(env, 'key', 'create', '--workspace', 'acme');
    const [row] = await database.reads.query<{ now: Date }>('SELECT router_now() AS now');
    const since = row?.now.toISOString() ?? '';
    await answerOf(env, 'credits', 'add', '--workspace', 'acme', '--cents', '500', '--note', 'invoice 7');
    await answerOf(env, 'key', 'revoke', prefix, '--yes');
    await answerOf(env, 'webhook', 'secret', 'rotate', '--workspace', 'acme', '--yes');
    await maker.made({ workspaceId, credential: 'token:ci' }, succeeded);

    const { changes } = await answerOf<Changes>(env, 'restore', 'changes', '--since', since);
    expect(changes.map(({ action }) => action).sort()).toEqual([
      'key.revoke',
      'key.revoked',
      'webhook.rotate_secret',
      'webhook.secret_rotated',
      'workspace.change',
    ]);
    expect(changes).toContainEqual(
      expect.objectContaining({ actor: null, action: 'key.revoked', subject: prefix }),
    );
    expect(changes).toContainEqual(
      expect.objectContaining({
        actor: expect.stringMatching(/^admin:/),
        subject: 'acme',
        details: expect.objectContaining({ addedMicros: 5_000_000, note: 'invoice 7' }),
      }),
    );
    const { out } = await runAdmin(env, 'restore', 'changes', '--since', since, '--limit', '1');
    expect(out).toMatch(/^AT +BY +CHANGE +OF +DETAILS\n[^\n]+workspace\.change +acme +\{[^\n]+\}\n$/);
  });
});

import type { OperatorActionView } from '#schemas';
import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ApiKeyRepository } from './api-key.repository.js';
import { type OperatorActionFilter, OperatorActionReader, placeOfAction } from './operator-action-reader.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const one = file.process();
const reader = new OperatorActionReader(one.database);
const keys = new ApiKeyRepository(one.database);

const found = async (filter: OperatorActionFilter, limit = 100) =>
  (await reader.page(filter, { limit })).map(({ actor, action, subject }) => [actor, action, subject]);

it('lists actions by actor, action, subject, workspace and time, newest first', async () => {
  const acme = await one.workspaces.open('acme', {}, 0, 'alice via admin:65532@pod-1');
  const { row } = await keys.create(
    acme.id,
    { name: 'web', scopes: ['run'], expiresAt: null },
    { actor: 'admin:65532@pod-1' },
  );
  await one.pauses.pause('acme', 'a provider with the name of the workspace', 'Alice via admin:0@pod-2');
  await one.workspaces.rotateWebhookSecret('acme', 'bob via admin:0@pod-2');
  const created = ['alice via admin:65532@pod-1', 'workspace.create', 'acme'];
  const keyed = ['admin:65532@pod-1', 'key.create', row.id];
  const paused = ['Alice via admin:0@pod-2', 'provider.pause', 'acme'];
  const rotated = ['bob via admin:0@pod-2', 'webhook.rotate_secret', 'acme'];
  expect(await found({})).toEqual([rotated, paused, keyed, created]);
  expect(await found({}, 1)).toEqual([rotated]);
  expect(await found({ actor: 'ALICE' })).toEqual([paused, created]);
  expect(await found({ actor: 'pod-1' })).toEqual([keyed, created]);
  expect(await found({ actor: '%' })).toEqual([]);
  expect(await found({ action: 'key.create' })).toEqual([keyed]);
  expect(await found({ subject: 'acme' })).toEqual([rotated, paused, created]);
  expect(await found({ subject: row.prefix })).toEqual([keyed]);
  expect(await found({ workspace: 'acme' })).toEqual([rotated, keyed, created]);
  expect(await found({ workspace: acme.id.toUpperCase() })).toEqual([rotated, keyed, created]);
  expect(await found({ workspace: 'acm' })).toEqual([]);
  expect(await found({ workspace: v7() })).toEqual([]);
  expect(await found({ subject: 'a\u0000' })).toEqual([]);

  await one.sql(`UPDATE operator_action SET at = at - interval '2 days' WHERE action = 'workspace.create'`);
  const dayAgo = new Date(Date.now() - 86_400_000);
  expect(await found({ since: dayAgo })).toEqual([rotated, paused, keyed]);
  expect(await found({ until: dayAgo })).toEqual([created]);

  await one.workspaces.delete(acme.id, 'bob via admin:0@pod-2');
  const gone = await reader.page({ workspace: acme.id }, { limit: 100 });
  expect(gone.map(({ action }) => action)).toEqual([
    'workspace.delete',
    'webhook.rotate_secret',
    'key.create',
    'workspace.create',
  ]);
  expect(gone[2]).toMatchObject({ workspace: 'acme', details: { name: 'web', prefix: row.prefix } });
});

it('pages neither repeat nor skip actions of the same moment', async () => {
  await one.sql(
    `INSERT INTO operator_action (at, actor, action, subject, details)
      SELECT '2026-01-01T00:00:00.000001Z', 'batch', 'node.ban', number::text, '{}' FROM generate_series(1, 25) AS number`,
  );
  const listed: OperatorActionView[] = [];
  for (let after: string | undefined; ;) {
    const page = await reader.page({ actor: 'batch' }, { after, limit: 7 });
    listed.push(...page);
    const last = page.at(-1);
    if (last === undefined) break;
    after = placeOfAction(last);
  }
  expect(listed.map(({ subject }) => Number(subject))).toEqual(
    Array.from({ length: 25 }, (_, nth) => 25 - nth),
  );
});

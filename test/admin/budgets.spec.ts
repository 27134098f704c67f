import type { RouterBudget } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

const { env } = await ownDatabase();
const budget = (...words: string[]) =>
  answerOf<{ budgets: RouterBudget[] }>(env, 'budget', ...words, '--workspace', 'acme');
const failing = async (...words: string[]) =>
  (await runAdmin(env, 'budget', ...words, '--workspace', 'acme')).error;

describe('admin budget', () => {
  beforeAll(async () => {
    await answerOf(env, 'workspace', 'create', 'acme');
  });

  it('sets, raises, lists and deletes budgets', async () => {
    const month = ['--window', 'month', '--time-zone', 'Europe/Berlin', '--cents', '500'];
    await budget('set', 'monthly', ...month);
    await budget('raise', 'monthly', '--cents', '100', '--until', '2999-01-01');
    await budget('raise', 'monthly', '--cents', '1', '--from', '2999-01-01', '--until', '2999-02-01');
    await budget('set', 'monthly', ...month, '--soft', '--webhook-url', 'https://hooks.example.com/');
    await budget(
      'set',
      'images',
      '--scope',
      'model',
      '--value',
      'bfl/*',
      '--window',
      'total',
      '--cents',
      '7',
    );
    const { budgets } = await budget('list');
    expect(budgets.map(({ name, kind, current }) => [name, kind, current.limit_cents])).toEqual([
      ['images', 'hard', 7],
      ['monthly', 'soft', 600],
    ]);
    expect(budgets[1]).toMatchObject({ webhook_url: 'https://hooks.example.com/', raises: [{}, {}] });
    expect(await budget('delete', 'images')).toEqual({ deleted: 'images' });
    expect((await budget('list')).budgets).toHaveLength(1);
  });

  it.each([
    [
      'an unknown time zone',
      ['set', 'a', '--window', 'day', '--cents', '1', '--time-zone', 'Mars'],
      /time_zone/,
    ],
    ['a value that does not fit', ['set', 'a', '--window', 'day', '--cents', '1', '--value', 'x'], /value/],
    ['a limit of zero', ['set', 'a', '--window', 'day', '--cents', '0'], /whole number from 1/],
    ['overlapping raises', ['raise', 'monthly', '--cents', '1', '--until', '2998-01-01'], /must not overlap/],
    ['an unknown budget', ['delete', 'montly'], /There is no budget.*"monthly"/s],
  ])('rejects %s', async (_what, words, message) => {
    expect(await failing(...words)).toMatch(message);
  });
});

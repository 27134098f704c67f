import { beforeAll, describe, expect, it } from '@jest/globals';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
import { longTimeouts } from '../harness/index.js';
import { insertRecords } from './many-records.js';
import { ownDatabase } from './own-database.js';
import { answerOf, exportedLines, runAdmin } from './run-admin.js';

const { env } = await ownDatabase();

describe('admin usage export of many records', () => {
  beforeAll(async () => {
    await insertRecords(env.DATABASE_URL, 'busy', 6_000);
    await insertRecords(env.DATABASE_URL, 'calm', 1_000);
  });

  it('prints each record once, even with equal times', async () => {
    const [heading, ...lines] = await exportedLines(env, ['--workspace', 'busy']);
    expect(heading?.split(',').slice(0, 2)).toEqual(['request_id', 'run_id']);
    expect(lines).toHaveLength(6_000);
    expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(6_000);
    const ends = lines.map((line) => line.split(',')[11] ?? '');
    expect(ends).toEqual(ends.toSorted());
  });

  it('holds one page at a time, and continues when its reader has room', async () => {
    const pages: number[] = [];
    let writing = false;
    const code = await runProgram(
      commandGroups,
      ['usage', 'export', '--format', 'jsonl', '--workspace', 'busy'],
      { ...longTimeouts, ...env },
      {
        out: async (text) => {
          expect(writing).toBe(false);
          writing = true;
          pages.push(text.split('\n').length - 1);
          await new Promise((resolve) => setImmediate(resolve));
          writing = false;
        },
        error: () => {},
      },
    );
    expect([code, pages]).toEqual([0, [1_000, 1_000, 1_000, 1_000, 1_000, 1_000]]);
  });

  it('has the tags and the end user of each run, by which the summary groups', async () => {
    const [heading = '', ...lines] = await exportedLines(env, ['--workspace', 'calm']);
    expect(heading.trimEnd().split(',').slice(-3)).toEqual(['tags', 'end_user', 'simulated']);
    const tagged = lines.filter((line) => line.trimEnd().endsWith(',"project=alpha,team=web",u-7,false'));
    expect([tagged.length, lines.length]).toEqual([10, 1_000]);
    for (const [by, value, group] of [
      ['tag:project', 'alpha', { tags: { project: 'alpha' } }],
      ['user', 'u-7', { user: 'u-7' }],
    ] as const) {
      const words = ['usage', '--workspace', 'calm', '--by', by];
      const { groups } = await answerOf<{ groups: object[] }>(env, ...words);
      expect(groups).toEqual([
        { ...group, runs: 10, succeeded: 10, cost_cents: 0 },
        { runs: 990, succeeded: 990, cost_cents: 0 },
      ]);
      expect((await runAdmin(env, ...words)).out).toContain(`${value} `);
    }
    expect(await runAdmin(env, 'usage', '--workspace', 'calm', '--by', 'tag')).toMatchObject({
      code: 2,
      error: expect.stringContaining('tag:<name>'),
    });
  });

  it('prints all workspaces in sequence, under one heading', async () => {
    const day = ['--from', '2026-01-01', '--until', '2026-01-01T00:00:01Z'];
    const [, ...lines] = await exportedLines(env, day);
    expect(lines).toHaveLength(2_499 + 1_000);
    expect(lines.map((line) => line.split(',')[2]).indexOf('calm')).toBe(2_499);
  });
});

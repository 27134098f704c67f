import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { RunFixture } from '../testing/run-fixture.js';
import { succeeded, type TestProcess } from '../testing/runs.js';
import { SpecDatabase } from '../testing/spec-database.js';

const dayMs = 86_400_000;
const untilNoonMs = dayMs / 2 - (Date.now() % dayMs);
/** The clock offset of a worker this many days from now, at a time far from midnight. */
const noon = (days: number) => `${days} days ${untilNoonMs} milliseconds`;

let database: SpecDatabase;
let fixture: RunFixture;
// Each case creates today's partitions itself, because the template may have been made before midnight.
beforeEach(async () => {
  database = await SpecDatabase.open();
  fixture = new RunFixture(database);
  await fixture.at(noon(0)).retention.ensurePartitions();
  await dropAll(0);
});
afterEach(() => database.end());
failOnLeftovers();

/** The existing days, as `2026-11-21`, of both runs and payloads. */
async function days(): Promise<string[]> {
  const rows = await fixture.first.sql<{ parent: string; day: string }>(
    `SELECT split_part(relname, '_', 1) AS parent, to_date(right(relname, 8), 'YYYYMMDD')::text AS day
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     WHERE inhparent IN ('run'::regclass, 'payload'::regclass) AND relname ~ '_[0-9]{8}$' ORDER BY day`,
  );
  const of = (parent: string) => rows.filter((row) => row.parent === parent).map(({ day }) => day);
  expect(of('payload')).toEqual(of('run'));
  return of('run');
}
/** The date this many days from now. */
const ahead = (days: number) => new Date(Date.now() + untilNoonMs + days * dayMs).toISOString().slice(0, 10);
const dayOf = (runId: string) =>
  new Date(Number.parseInt(runId.replace('-', '').slice(0, 12), 16)).toISOString().slice(0, 10);
const dropAll = (after: number): Promise<string[]> => dropped(fixture.at(noon(after)));
/** The days that a worker drops. */
async function dropped({ retention }: TestProcess): Promise<string[]> {
  const found: string[] = [];
  for (;;) {
    const day = await retention.dropDay();
    if (day === null) return found;
    found.push(day);
  }
}

describe('future days', () => {
  it('are created a week ahead, whichever worker is first', async () => {
    const before = await days();
    expect([before[0], before.at(-1)]).toEqual([ahead(-1), ahead(7)]);
    const later = fixture.at(noon(3));
    const missing = await Promise.all(Array.from({ length: 6 }, () => later.retention.ensurePartitions()));
    expect(missing).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await days()).toEqual([...before, ahead(8), ahead(9), ahead(10)]);
    expect(await later.retention.ensurePartitions()).toBe(0);
  });

  it('are created later if a fast gateway clock has already made runs of that day, when these have aged out', async () => {
    const runId = v7({ msecs: Date.now() + 9 * dayMs });
    const run = await fixture.run('completed', { runId });
    expect(await fixture.at(noon(3)).retention.ensurePartitions()).toBe(1);
    const made = await days();
    expect(made).not.toContain(dayOf(runId));
    expect(made).toContain(dayOf(v7({ msecs: Date.now() + 8 * dayMs })));
    expect(await fixture.first.runReader.result(run.spaceId, 'tested/model', runId)).toMatchObject({
      outcome: 'succeeded',
    });
    expect(await fixture.at(noon(3)).retention.ageOut()).toBe(1);
    expect(await fixture.at(noon(3)).retention.ensurePartitions()).toBe(0);
    expect(await days()).toContain(dayOf(runId));
  });

  it('are created later if the table is being read', async () => {
    await beside('SELECT FROM run LIMIT 1', async () => {
      expect(await fixture.at(noon(1)).retention.ensurePartitions()).toBe(1);
    });
    expect(await fixture.at(noon(1)).retention.ensurePartitions()).toBe(0);
  });
});

describe('a past day', () => {
  it('without runs is dropped, oldest first; yesterday is kept', async () => {
    expect(await dropAll(0)).toEqual([]);
    expect(await dropAll(3)).toEqual([ahead(-1), ahead(0), ahead(1)]);
    expect((await days())[0]).toBe(ahead(2));
  });

  it('is kept for a live run, and other days are dropped', async () => {
    const runId = await fixture.first.run(await fixture.space({ inflightLimit: 0 }));
    const found = await dropAll(5);
    expect(found).not.toContain(dayOf(runId));
    expect(found).toContain(ahead(2));
    expect((await fixture.written(runId))['run']).not.toBeNull();
  });

  it('is dropped once its results have expired, and no row is deleted before', async () => {
    const { runId, spaceId } = await fixture.run('completed');
    const day = (Date.parse(`${dayOf(runId)}T00:00:00Z`) - Date.now()) / 1000;
    const [before, after] = [2 * 86_400 + 3500 + day, 2 * 86_400 + 3700 + day].map((seconds) =>
      fixture.at(`${Math.round(seconds)} seconds`),
    );
    if (!before || !after) throw new Error('There is no worker');
    for (let nth = 0; nth < 2; nth += 1) {
      expect(await before.retention.ageOut()).toBe(0);
      expect(await before.retention.dropDay()).not.toBe(dayOf(runId));
    }
    expect(await fixture.written(runId)).toMatchObject({ run: { id: runId }, payloads: [{}, {}] });
    expect(await before.runReader.result(spaceId, 'tested/model', runId)).toBe('aged_out');
    expect(await after.retention.ageOut()).toBe(0);
    expect(await dropped(after)).toContain(dayOf(runId));
    expect(await fixture.written(runId)).toMatchObject({ run: null, payloads: null });
    expect(await after.runReader.result(spaceId, 'tested/model', runId)).toBe('aged_out');
  });

  it('is kept for a run that ended long after its admission, until its result has expired', async () => {
    const { runId, epoch, spaceId } = await fixture.run('running');
    await fixture.at(`${noon(4)} 1 hour`).finish(runId, epoch, succeeded);
    expect(await dropAll(5)).not.toContain(dayOf(runId));
    expect(await fixture.at(noon(4)).runReader.result(spaceId, 'tested/model', runId)).toMatchObject({
      outcome: 'succeeded',
    });
    expect(await dropAll(6)).toContain(dayOf(runId));
  });

  it('that is needed for a live run loses its expired results a day later', async () => {
    const { runId } = await fixture.run('completed');
    const live = await fixture.first.run(await fixture.space({ inflightLimit: 0 }));
    expect(await fixture.at(noon(2)).retention.ageOut()).toBe(0);
    expect(await fixture.at(noon(3)).retention.ageOut()).toBe(1);
    expect((await fixture.written(runId))['run']).toBeNull();
    expect((await fixture.written(live))['run']).not.toBeNull();
    expect(await days()).toContain(dayOf(live));
  });

  it('is kept until its objects are marked for deletion', async () => {
    const { runId, epoch } = await fixture.run('copying');
    await fixture.first.storedObjects.note('output', runId, 60);
    await fixture.first.finish(runId, epoch, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: { storedAs: 'output' },
    });
    expect(await dropAll(5)).not.toContain(dayOf(runId));
    expect(await fixture.at(noon(5)).retention.releaseObjects()).toBe(1);
    expect(await fixture.at(noon(5)).retention.releaseObjects()).toBe(0);
    expect(await dropAll(5)).toContain(dayOf(runId));
    expect(await fixture.at(noon(5)).storedObjects.takeDue(10)).toEqual(['output']);
  });

  it('is not dropped during a long read, and no session waits behind the attempt', async () => {
    const spaceId = await fixture.space();
    const before = await days();
    await beside('SELECT FROM run LIMIT 1', async () => {
      const dropping = fixture.at(noon(5)).retention.dropDay();
      await waitFor(async () => (await fixture.second.waiting()) === 1, {
        withinMs: 20_000,
        what: 'the drop to wait for the reader',
        everyMs: 1,
      });
      // Both finish although the reader does not.
      expect(await fixture.first.run(spaceId)).toEqual(expect.any(String));
      expect(await dropping).toBeNull();
    });
    expect(await days()).toEqual(before);
    expect(await fixture.at(noon(5)).retention.dropDay()).toBe(before[0]);
  });
});

it('creating or dropping a day gives up its lock before a caller would notice', async () => {
  const rows = await fixture.first.sql(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
     WHERE proname IN ('drop_day', 'ensure_day') AND pronargs = 1 ORDER BY proname`,
  );
  const settings = expect.arrayContaining(['lock_timeout=200ms']);
  expect(rows).toEqual([
    { name: 'drop_day', settings },
    { name: 'ensure_day', settings },
  ]);
});

/** Runs `act` while another session is in a transaction that began with this statement. */
async function beside(statement: string, act: () => Promise<void>): Promise<void> {
  const other = new Client({ connectionString: database.url });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query(statement);
    await act();
    await other.query('COMMIT');
  } finally {
    await other.end();
  }
}

it('the workers of the previous release drop only days without rows, and leave a tombstone of each run', async () => {
  const { runId } = await fixture.run('completed');
  const drop = async () => {
    const [row] = await fixture.at(noon(9)).sql<{ day: string | null }>('SELECT drop_day()::text AS day');
    return row?.day ?? null;
  };
  expect(await drop()).toBe(ahead(-1));
  expect(await drop()).toBe(ahead(1));
  expect(await days()).toContain(dayOf(runId));
  await fixture.at(noon(9)).sql('SELECT age_out(86400, 100, 1000000)');
  expect(await fixture.first.sql('SELECT run_id AS id FROM tombstone')).toEqual([{ id: runId }]);
  expect(await drop()).toBe(dayOf(runId));
});

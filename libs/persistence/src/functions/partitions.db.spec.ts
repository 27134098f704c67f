import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { RunFixture } from '../testing/run-fixture.js';
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
async function dropAll(after: number): Promise<string[]> {
  const dropped: string[] = [];
  for (;;) {
    const day = await fixture.at(noon(after)).retention.dropDay();
    if (day === null) return dropped;
    dropped.push(day);
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
  it('is dropped when it is empty, oldest first; yesterday is kept', async () => {
    expect(await dropAll(0)).toEqual([]);
    expect(await dropAll(3)).toEqual([ahead(-1), ahead(0), ahead(1)]);
    expect((await days())[0]).toBe(ahead(2));
  });

  it('is kept for a live run, and other days are dropped', async () => {
    const runId = await fixture.first.run(await fixture.space({ inflightLimit: 0 }));
    const dropped = await dropAll(5);
    expect(dropped).not.toContain(dayOf(runId));
    expect(dropped).toContain(ahead(2));
    expect((await fixture.written(runId))['run']).not.toBeNull();
  });

  it('is kept for a run whose result can be collected, and dropped when that has aged out', async () => {
    const { runId } = await fixture.run('completed');
    expect(await dropAll(5)).not.toContain(dayOf(runId));
    expect(await fixture.at(noon(5)).retention.ageOut()).toBe(1);
    expect(await dropAll(5)).toContain(dayOf(runId));
    expect(await days()).not.toContain(dayOf(runId));
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
    `SELECT proname AS name, proconfig AS settings FROM pg_proc WHERE proname IN ('drop_day', 'ensure_day') ORDER BY proname`,
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

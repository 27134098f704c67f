import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';
import { waitFor } from '../../../../test/harness/wait-for.js';
import { RunFixture } from '../testing/run-fixture.js';
import { SpecDatabase } from '../testing/spec-database.js';

const dayMs = 86_400_000;
const untilNoonMs = dayMs / 2 - (Date.now() % dayMs);
/** The clock of a worker so many days from now, where no midnight is near. */
const noon = (days: number) => `${days} days ${untilNoonMs} milliseconds`;

let database: SpecDatabase;
let fixture: RunFixture;
// Each case has days of its own, those of today: the template may have been made before midnight.
beforeEach(async () => {
  database = await SpecDatabase.open();
  fixture = new RunFixture(database);
  await fixture.at(noon(0)).retention.ensurePartitions();
  await dropAll(0);
});
afterEach(() => database.end());
failOnLeftovers();

/** The days that there are, as `2026-11-21`, of runs and of payloads alike. */
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
/** The day so many days from now. */
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

describe('the days to come', () => {
  it('are made a week ahead, whichever worker looks first', async () => {
    const before = await days();
    expect([before[0], before.at(-1)]).toEqual([ahead(-1), ahead(7)]);
    const later = fixture.at(noon(3));
    const missing = await Promise.all(Array.from({ length: 6 }, () => later.retention.ensurePartitions()));
    expect(missing).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await days()).toEqual([...before, ahead(8), ahead(9), ahead(10)]);
    expect(await later.retention.ensurePartitions()).toBe(0);
  });

  it('but for one whose runs came before it, by the clock of a gateway that is ahead: later, when they have aged out', async () => {
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

  it('are made later while somebody reads the table', async () => {
    await beside('SELECT FROM run LIMIT 1', async () => {
      expect(await fixture.at(noon(1)).retention.ensurePartitions()).toBe(1);
    });
    expect(await fixture.at(noon(1)).retention.ensurePartitions()).toBe(0);
  });
});

describe('a day that is over', () => {
  it('is dropped when nothing is left in it, the oldest first; yesterday is kept', async () => {
    expect(await dropAll(0)).toEqual([]);
    expect(await dropAll(3)).toEqual([ahead(-1), ahead(0), ahead(1)]);
    expect((await days())[0]).toBe(ahead(2));
  });

  it('keeps a run that is live, and others are dropped all the same', async () => {
    const runId = await fixture.first.run(await fixture.space({ inflightLimit: 0 }));
    const dropped = await dropAll(5);
    expect(dropped).not.toContain(dayOf(runId));
    expect(dropped).toContain(ahead(2));
    expect((await fixture.written(runId))['run']).not.toBeNull();
  });

  it('keeps a run whose result can be collected, and goes when that has aged out', async () => {
    const { runId } = await fixture.run('completed');
    expect(await dropAll(5)).not.toContain(dayOf(runId));
    expect(await fixture.at(noon(5)).retention.ageOut()).toBe(1);
    expect(await dropAll(5)).toContain(dayOf(runId));
    expect(await days()).not.toContain(dayOf(runId));
  });

  it('gives way to a long reader, and nobody waits behind it', async () => {
    const spaceId = await fixture.space();
    const before = await days();
    await beside('SELECT FROM run LIMIT 1', async () => {
      const dropping = fixture.at(noon(5)).retention.dropDay();
      await waitFor(async () => (await fixture.second.waiting()) === 1, {
        withinMs: 20_000,
        what: 'the drop to wait for the reader',
        everyMs: 1,
      });
      // Both come to their end although the reader does not.
      expect(await fixture.first.run(spaceId)).toEqual(expect.any(String));
      expect(await dropping).toBeNull();
    });
    expect(await days()).toEqual(before);
    expect(await fixture.at(noon(5)).retention.dropDay()).toBe(before[0]);
  });
});

it('whoever makes or drops a day gives up on its lock before a caller would notice', async () => {
  const rows = await fixture.first.sql(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc WHERE proname IN ('drop_day', 'ensure_day') ORDER BY proname`,
  );
  const settings = expect.arrayContaining(['lock_timeout=200ms']);
  expect(rows).toEqual([
    { name: 'drop_day', settings },
    { name: 'ensure_day', settings },
  ]);
});

/** Does something while another session is in the middle of a transaction that has begun so. */
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

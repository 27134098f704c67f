import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import { Client } from 'pg';
import { waitFor } from '../../../test/harness/wait-for.js';
import { Database } from './database.js';
import { databaseSettings } from './settings.js';
import { leaseMs, openRunFixture } from './testing/run-fixture.js';
import { succeeded, testHandle } from './testing/runs.js';

/** Fewer than the attempts of one statement. */
const times = 3;

const fixture = await openRunFixture();

beforeAll(() =>
  fixture.first.script(`
    CREATE SEQUENCE raised;
    CREATE TABLE injection (state text, times integer);
    CREATE FUNCTION raise_at_first() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE injected injection%ROWTYPE;
    BEGIN
      SELECT * INTO injected FROM injection;
      -- A sequence is not rolled back with the statement that it fails.
      IF nextval('raised') <= injected.times THEN RAISE EXCEPTION 'injected' USING ERRCODE = injected.state; END IF;
      RETURN NEW;
    END $$`),
);

interface Place {
  what: string;
  event: string;
  table: string;
  /** Prepares the case and returns the action that hits the error. */
  prepare: () => Promise<() => Promise<unknown>>;
  answers: unknown;
}

const places: Place[] = [
  {
    what: 'an admission',
    event: 'INSERT',
    table: 'outbox',
    prepare: async () => {
      const spaceId = await fixture.space();
      return () => fixture.first.admit(spaceId);
    },
    answers: expect.objectContaining({ kind: 'admitted', ready: true, position: 0 }),
  },
  {
    what: 'the use of a key',
    event: 'INSERT',
    table: 'idempotency_key',
    prepare: async () => {
      const spaceId = await fixture.space();
      return () => fixture.first.admit(spaceId, { key: 'used' });
    },
    answers: expect.objectContaining({ kind: 'admitted', ready: true }),
  },
  {
    what: 'a claim',
    event: 'UPDATE',
    table: 'run',
    prepare: async () => {
      const runId = await fixture.first.run(await fixture.space());
      return () => fixture.claim(runId);
    },
    answers: expect.objectContaining({ epoch: 1, crashes: 0 }),
  },
  {
    what: 'the beginning of a submission',
    event: 'UPDATE',
    table: 'run',
    prepare: async () => {
      const { runId, epoch } = await fixture.run('claimed');
      return () => fixture.first.dispatch.beginSubmission(runId, epoch, leaseMs);
    },
    answers: true,
  },
  {
    what: 'a claim that is given back',
    event: 'UPDATE',
    table: 'outbox',
    prepare: async () => {
      const { runId, epoch } = await fixture.run('claimed');
      return () => fixture.first.dispatch.postpone(runId, epoch, 0);
    },
    answers: 0,
  },
  {
    what: 'a sweep',
    event: 'UPDATE',
    table: 'outbox',
    prepare: async () => {
      const { runId } = await fixture.run('submitting', { by: fixture.at('-2 hours') });
      return async () => (await fixture.swept(runId))?.kind;
    },
    answers: 'abandoned',
  },
  {
    what: 'a saved handle',
    event: 'UPDATE',
    table: 'outbox',
    prepare: async () => {
      const { runId, epoch } = await fixture.run('submitting');
      return () => fixture.first.runs.saveHandle(runId, epoch, testHandle, 0);
    },
    answers: { cancelRequested: false },
  },
  {
    what: 'a stored output',
    event: 'INSERT',
    table: 'payload',
    prepare: async () => {
      const { runId, epoch } = await fixture.run('running');
      return () => fixture.first.runs.keepOutput(runId, epoch, 'application/json', Buffer.from('{}'));
    },
    answers: true,
  },
  {
    what: 'an outcome',
    event: 'INSERT',
    table: 'audit_record',
    prepare: async () => {
      const { runId, epoch } = await fixture.run('running');
      return () => fixture.first.finish(runId, epoch, succeeded);
    },
    answers: expect.objectContaining({ won: true }),
  },
];

const inject = (state: string, count: number) =>
  fixture.first.sql(
    `WITH restarted AS (SELECT setval('raised', 1, false)), cleared AS (DELETE FROM injection)
     INSERT INTO injection SELECT $1, $2 FROM restarted`,
    [state, count],
  );
/** How often the statement reached the place, including attempts that were rolled back. */
const tries = async () =>
  (await fixture.first.sql<{ last: number }>('SELECT last_value::integer AS last FROM raised'))[0]?.last;

const waiting = (sessions: number) =>
  waitFor(async () => (await fixture.second.waiting()) === sessions, {
    withinMs: 15_000,
    what: `${sessions} sessions to wait`,
    everyMs: 1,
  });
const locked = (spaceId: string) => `PERFORM 1 FROM workspace WHERE id = '${spaceId}' FOR UPDATE;`;

describe.each(places)('an error of Postgres in $what', ({ event, table, prepare, answers }) => {
  beforeAll(() =>
    fixture.first.sql(
      `CREATE TRIGGER injected BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION raise_at_first()`,
    ),
  );
  afterEach(() => fixture.first.sql('DELETE FROM injection'));
  afterAll(() => fixture.first.sql(`DROP TRIGGER injected ON ${table}`));

  it.each(['40001', '40P01', '23505'])(
    'that means that nothing was changed is retried internally, and the statement takes effect once (%s)',
    async (state) => {
      const act = await prepare();
      await inject(state, times);
      expect(await act()).toEqual(answers);
      expect(await tries()).toBeGreaterThan(times);
    },
  );
});

describe('an error of Postgres', () => {
  beforeAll(() =>
    fixture.first.sql(
      'CREATE TRIGGER injected BEFORE UPDATE ON run FOR EACH ROW EXECUTE FUNCTION raise_at_first()',
    ),
  );
  afterEach(() => fixture.first.sql('DELETE FROM injection'));
  afterAll(() => fixture.first.sql('DROP TRIGGER injected ON run'));

  it('is reported as temporary after five attempts', async () => {
    const runId = await fixture.first.run(await fixture.space());
    await inject('40001', 1000);
    await expect(fixture.claim(runId)).rejects.toMatchObject({
      bucket: 'service_unavailable',
    });
    expect(await tries()).toBe(5);
  });

  it('of any other kind is rethrown after one attempt', async () => {
    const runId = await fixture.first.run(await fixture.space());
    await inject('22012', 1000);
    await expect(fixture.claim(runId)).rejects.toMatchObject({ code: '22012' });
    expect(await tries()).toBe(1);
  });
});

it('when two sessions deadlock, the one that is aborted retries its statement', async () => {
  const [one, other] = [await fixture.space(), await fixture.space()];
  const inTheWay = new Client({ connectionString: fixture.database.url });
  const between = new Client({ connectionString: fixture.database.url });
  await Promise.all([inTheWay.connect(), between.connect()]);
  await fixture.first.script(`
    CREATE SEQUENCE tried;
    CREATE FUNCTION lock_both() RETURNS integer LANGUAGE plpgsql SET deadlock_timeout = '1ms' AS $$
    BEGIN
      -- The second attempt waits for the other session, which could otherwise miss the row that this one gave up.
      IF nextval('tried') > 1 THEN PERFORM pg_advisory_xact_lock_shared(2); END IF;
      ${locked(one)}
      PERFORM pg_advisory_xact_lock_shared(1);
      ${locked(other)}
      RETURN (SELECT last_value FROM tried);
    END $$`);
  try {
    await between.query('SELECT pg_advisory_lock(1)');
    const both = fixture.first.sql<{ tries: number }>('SELECT lock_both() AS tries');
    await waiting(1);
    // This session does not check for deadlocks, so the other one is aborted.
    await inTheWay.query(`BEGIN; SET LOCAL deadlock_timeout = '10min'; SELECT pg_advisory_xact_lock(2)`);
    await inTheWay.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [other]);
    const crossing = inTheWay.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [one]);
    await waiting(2);
    await between.query('SELECT pg_advisory_unlock(1)');
    await crossing;
    await inTheWay.query('COMMIT');
    expect(await both).toEqual([{ tries: 2 }]);
  } finally {
    await Promise.all([inTheWay.end(), between.end()]);
  }
});

it('statements on runs are planned once per connection, and requests for nodes for their values', async () => {
  const text = 'SHOW plan_cache_mode';
  const { database } = fixture.first;
  expect([
    await database.work.query(text),
    await database.reads.query(text),
    await database.registry.query(text),
    await database.list('a', text, []),
  ]).toEqual(
    ['force_generic_plan', 'force_generic_plan', 'auto', 'auto'].map((mode) => [{ plan_cache_mode: mode }]),
  );
});

it('prepares a statement once per connection on every pool, but never a list', async () => {
  const { work, reads, registry } = fixture.first.database;
  const text = 'SELECT 1 AS prepared_by_spec';
  const prepared = `SELECT count(*)::integer AS statements FROM pg_prepared_statements WHERE statement = $1`;
  for (const pool of [work, reads, registry]) {
    await pool.query(text);
    await pool.query(text);
    expect(await pool.queryUnprepared(prepared, [text])).toEqual([{ statements: 1 }]);
  }
  await fixture.first.database.list('a', `${text}, 2 AS two`, []);
  expect(await registry.queryUnprepared(prepared, [`${text}, 2 AS two`])).toEqual([{ statements: 0 }]);
});

it('a snapshot that fails does not leave its transaction to the next user of its connection', async () => {
  const { registry } = fixture.first.database;
  await expect(registry.snapshot((query) => query('SELECT 1 / 0'))).rejects.toMatchObject({ code: '22012' });
  expect(await registry.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

describe('a transaction', () => {
  const { database } = fixture.first;
  const written = 'SELECT note FROM noted';
  beforeAll(() => fixture.first.script('CREATE TABLE noted (note text)'));

  it('reads its own writes, which others see only after the commit', async () => {
    const note = await database.transaction(async ({ query, manager }) => {
      await query(`INSERT INTO noted VALUES ('inside')`);
      expect(await query(written)).toEqual([{ note: 'inside' }]);
      expect(await manager.query(written)).toEqual([{ note: 'inside' }]);
      expect(await database.work.query(written)).toEqual([]);
      expect(await database.reads.query(written)).toEqual([]);
      return query<{ note: string }>(`UPDATE noted SET note = 'changed' RETURNING note`);
    });
    expect(note).toEqual([{ note: 'changed' }]);
    expect(await database.reads.query(written)).toEqual([{ note: 'changed' }]);
  });

  it('writes nothing when its callback fails, and rethrows that error', async () => {
    const failing = database.transaction(async ({ query }) => {
      await query(`INSERT INTO noted VALUES ('lost')`);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow(/^changed my mind$/);
    const refused = database.transaction(async ({ query }) => {
      await query(`INSERT INTO noted VALUES ('lost')`);
      await query('SELECT 1 / 0');
    });
    await expect(refused).rejects.toMatchObject({ code: '22012' });
    expect(await database.work.query(`${written} WHERE note = 'lost'`)).toEqual([]);
  });

  it('fails with a temporary error if the database cannot be reached', async () => {
    const away = Database.create(
      readSettings(databaseSettings, { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
    );
    await expect(away.transaction(async () => {})).rejects.toMatchObject({ bucket: 'service_unavailable' });
    await away.close();
  });
});

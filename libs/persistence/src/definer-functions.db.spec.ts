import { expect, it } from '@jest/globals';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const dataSource = await file.process().database.dataSource();

/** SECURITY DEFINER functions and their search paths. */
const definers = async () =>
  dataSource.query<{ name: string; settings: string[] | null }[]>(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
     WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY proname`,
  );

it('every SECURITY DEFINER function searches the schema first and temporary tables last', async () => {
  const found = await definers();
  expect(found.map(({ name }) => name)).toEqual([
    'drop_day',
    'ensure_partitions',
    'record_backup',
    'workers_wanted',
  ]);
  for (const { name, settings } of found)
    expect([name, settings]).toEqual([name, expect.arrayContaining(['search_path=public, pg_temp'])]);
});

it('a caller’s temporary table cannot shadow a table of the schema', async () => {
  await dataSource.transaction(async (manager) => {
    await manager.query('CREATE TEMPORARY TABLE outbox (LIKE outbox INCLUDING DEFAULTS) ON COMMIT DROP');
    await manager.query(
      `INSERT INTO pg_temp.outbox (run_id, workspace_id, provider, queue, place, reserved_micros, dispatched, waiting, due_at, attempts)
       VALUES (gen_random_uuid(), gen_random_uuid(), 'bfl', 'dispatch', 1, 0, false, false, now(), 0)`,
    );
    expect(await manager.query('SELECT workers_wanted(1, 1)::float8 AS wanted')).toEqual([{ wanted: 0 }]);
  });
});

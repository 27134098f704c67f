import { expect, it } from '@jest/globals';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const operator = file.process();

const takesWrites = () => file.process().database.takesWrites();

it('a read-only database does not accept writes until it is writable again', async () => {
  expect(await takesWrites()).toBe(true);
  const name = decodeURIComponent(new URL(file.url).pathname.slice(1));
  await operator.sql(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  expect(await takesWrites()).toBe(false);
  await operator.sql(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
  expect(await takesWrites()).toBe(true);
});

it('a database with a full disk does not accept writes until a probe finds room', async () => {
  const { database } = file.process();
  await operator.sql(`
    CREATE FUNCTION disk_full() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`);
  await operator.sql('CREATE EVENT TRIGGER disk_full ON ddl_command_start EXECUTE FUNCTION disk_full()');
  // No write has failed yet, so there is no probe.
  expect(await database.takesWrites()).toBe(true);
  await expect(database.work.query('CREATE TABLE larger ()')).rejects.toMatchObject({
    bucket: 'service_unavailable',
  });
  expect(await database.takesWrites()).toBe(false);
  expect(await database.takesWrites()).toBe(false);
  await operator.sql('DROP EVENT TRIGGER disk_full');
  expect(await database.takesWrites()).toBe(true);
});

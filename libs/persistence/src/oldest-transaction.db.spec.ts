import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();

it('the age of the oldest transaction is that of a session that began one and never ended it', async () => {
  const { database } = file.process();
  const client = new Client({ connectionString: file.url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_sleep(0.2)');
    const seconds = await database.oldestTransactionSeconds();
    expect(seconds).toBeGreaterThan(0.2);
    await client.query('COMMIT');
    expect(await database.oldestTransactionSeconds()).toBeLessThan(seconds);
  } finally {
    await client.end();
  }
});

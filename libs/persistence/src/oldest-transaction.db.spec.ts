import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { waitFor } from '../../../test/harness/wait-for.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();

it('the age of the oldest transaction is that of a session that began one and never ended it', async () => {
  const { database } = file.process();
  const client = new Client({ connectionString: file.url });
  await client.connect();
  try {
    await client.query('BEGIN');
    const before = await database.oldestTransactionSeconds();
    const seconds = await waitFor(
      async () => {
        const now = await database.oldestTransactionSeconds();
        return now > before && now;
      },
      { withinMs: 20_000, what: 'the transaction to age' },
    );
    await client.query('COMMIT');
    expect(await database.oldestTransactionSeconds()).toBeLessThan(seconds);
  } finally {
    await client.end();
  }
});

import { createDatabase } from '../../../test/harness/database.js';
import { failOnLeftovers } from '../../../test/harness/leftovers.js';
import { afterAll, expect, it } from '@jest/globals';
import { PostgresListener } from './postgres-listener.js';

const database = await createDatabase();
afterAll(() => database.drop());

it('can be closed at the very moment its session is established', async () => {
  const lost: unknown[] = [];
  await new Promise<void>((resolve) => {
    const listener: PostgresListener = new PostgresListener({
      url: database.url,
      channel: 'changes',
      heard: () => {},
      connected: () => resolve(listener.close()),
      lost: (error) => lost.push(error),
    });
  });
  expect(lost).toEqual([]);
});

failOnLeftovers();

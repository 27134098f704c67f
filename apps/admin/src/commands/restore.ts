import {
  type Change,
  changesSince,
  OutboxRepository,
  recordAction,
  runningProcesses,
  StoredObjectRepository,
} from '#persistence';
import { readSettings } from '#schemas';
import { type AssetStore, createStore, type OwnedObject, ownedObjects, storageSettings } from '#storage';
import type { Answer, Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { instant } from '../option-values.js';
import { wholeNumber } from '../whole-number.js';
import type { CommandSetup } from '../program.js';
import { table } from '../table.js';

interface ObjectsOptions {
  olderThanHours: number;
  limit: number;
  delete?: true;
}

const hourMs = 3_600_000;
/** Time limit for a listing, longer than any listing should take. */
const listingMs = 24 * hourMs;
const batchSize = 1000;

export const restoreCommands: CommandSetup = (restore, desk) => {
  restore
    .command('runs')
    .description(
      'Mark every waiting run as possibly submitted since the backup was taken. Workers then do not submit them again but end them as internal_error with an unknown outcome. Their Idempotency-Keys stay used.',
    )
    .action(answering(desk, (services) => endRuns(services, desk)));

  restore
    .command('objects')
    .description(
      'List objects in the asset store that have no row in this database, such as those stored since the backup was taken.',
    )
    .option(
      '--older-than-hours <n>',
      'only objects stored more than this many hours ago',
      wholeNumber(0, 87_600),
      24,
    )
    .option('--limit <n>', 'maximum number of objects shown', wholeNumber(0, 10_000), 100)
    .option('--delete', 'have the workers delete all objects found, not only those shown')
    .action(answering(desk, (services, options: ObjectsOptions) => leftObjects(services, options, desk)));

  restore
    .command('changes')
    .description(
      'List operators’ changes and all changes to keys and webhook secrets since a time, oldest first.',
    )
    .requiredOption('--since <time>', 'such as 2026-01-31T12:00:00Z', instant)
    .option('--limit <n>', 'maximum number of changes shown', wholeNumber(1, 100_000), 1000)
    .action(
      answering(desk, async ({ database }, { since, limit }: { since: Date; limit: number }) =>
        changesAnswer(await changesSince(database, since, limit)),
      ),
    );
};

async function endRuns({ database, actor }: Services, desk: Desk): Promise<Answer> {
  const running = await runningProcesses(database);
  if (running.length > 0) {
    const names = running.map(({ app, host, seenAt }) => `${app} on ${host} at ${seenAt.toISOString()}`);
    throw new Error(
      `Gateways or workers are still running. Scale them to 0 and wait 100 s. Last seen: ${names.slice(0, 3).join(', ')}.`,
    );
  }
  const outbox = new OutboxRepository(database);
  const runs = await outbox.unsentRuns();
  if (runs > 0)
    await desk.confirm(`This ends ${runs} waiting runs as internal_error with an unknown outcome.`);
  const marked = await database.transaction(async (transaction) => {
    const count = await outbox.presumeSent(transaction);
    const details = { runs: count };
    await recordAction(transaction.manager, { actor, action: 'restore.runs', subject: 'runs', details });
    return count;
  });
  return {
    document: { runs: marked },
    text: `${marked} waiting runs are marked as possibly submitted. Workers end them as internal_error when they start.`,
  };
}

async function leftObjects(
  { database, actor }: Services,
  options: ObjectsOptions,
  desk: Desk,
): Promise<Answer> {
  desk.takesLong();
  const settings = readSettings(storageSettings, desk.env);
  const { store } = await createStore(settings);
  const objects = new StoredObjectRepository(database);
  const storedBeforeMs = Date.now() - options.olderThanHours * hourMs;
  const search = { store, objects, storedBeforeMs, signal: AbortSignal.timeout(listingMs) };
  try {
    const found = { objects: 0, bytes: 0 };
    const shown: OwnedObject[] = [];
    for await (const batch of unknownObjects(search)) {
      found.objects += batch.length;
      found.bytes += batch.reduce((sum, { bytes }) => sum + bytes, 0);
      shown.push(...batch.slice(0, options.limit - shown.length));
    }
    let deleting = 0;
    if (options.delete && found.objects > 0) {
      const subject = settings.S3_BUCKET ?? settings.ASSET_DIR;
      await desk.confirm(
        `This deletes ${found.objects} objects (${found.bytes} bytes) from ${subject}. Make sure that no other database uses this store.`,
      );
      await database.withManager((manager) =>
        recordAction(manager, { actor, action: 'restore.objects', subject, details: found }),
      );
      // Listed again, so that millions of objects need not be kept in memory.
      for await (const batch of unknownObjects(search)) deleting += await objects.condemn(batch);
    }
    return objectsAnswer(found, shown, deleting);
  } finally {
    await store.close();
  }
}

function objectsAnswer(
  found: { objects: number; bytes: number },
  shown: readonly OwnedObject[],
  deleting: number,
): Answer {
  const listed = shown.map(({ key, bytes, storedAtMs }) => ({
    key,
    bytes,
    stored_at: new Date(storedAtMs).toISOString(),
  }));
  return {
    document: { ...found, deleting, listed },
    text: [
      table(listed, {
        STORED: ({ stored_at }) => stored_at,
        BYTES: ({ bytes }) => bytes,
        KEY: ({ key }) => key,
      }),
      `${found.objects} objects without a row, ${found.bytes} bytes.`,
      ...(deleting > 0 ? [`Workers will delete ${deleting} of them in their next round.`] : []),
    ].join('\n'),
  };
}

const changesAnswer = (changes: readonly Change[]): Answer => ({
  document: { changes },
  text: table(changes, {
    AT: ({ at }) => at.toISOString(),
    BY: (change) => change.actor,
    CHANGE: ({ action }) => action,
    OF: ({ subject }) => subject,
    DETAILS: ({ details }) => JSON.stringify(details),
  }),
});

interface Search {
  store: AssetStore;
  objects: StoredObjectRepository;
  /** Objects stored later are skipped. */
  storedBeforeMs: number;
  signal: AbortSignal;
}

/**
 * Yields the objects of the store that have no row, in batches. A row is written before its object is stored, and
 * a batch is looked up after it is listed, so objects being stored meanwhile are not included.
 */
async function* unknownObjects(search: Search): AsyncGenerator<OwnedObject[]> {
  let batch: OwnedObject[] = [];
  for await (const object of ownedObjects(search.store, search.signal)) {
    if (object.storedAtMs >= search.storedBeforeMs) continue;
    batch.push(object);
    if (batch.length < batchSize) continue;
    yield await unknownOf(batch, search.objects);
    batch = [];
  }
  if (batch.length > 0) yield await unknownOf(batch, search.objects);
}

async function unknownOf(batch: OwnedObject[], objects: StoredObjectRepository): Promise<OwnedObject[]> {
  const unknown = await objects.unknown(batch.map(({ key }) => key));
  return batch.filter(({ key }) => unknown.has(key));
}

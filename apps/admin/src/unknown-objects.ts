import { StoredObjectRepository } from '#persistence';
import { type AssetStore, type OwnedObject, ownedObjects } from '#storage';

const batchSize = 1000;

interface Search {
  store: AssetStore;
  objects: StoredObjectRepository;
  /** Younger ones are passed over. */
  storedBeforeMs: number;
  signal: AbortSignal;
}

/**
 * The objects of the store that no row names, in batches. An object gets its row before it is put, and a batch is looked
 * up after it was listed: what is being put meanwhile is not among them.
 */
export async function* unknownObjects(search: Search): AsyncGenerator<OwnedObject[]> {
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

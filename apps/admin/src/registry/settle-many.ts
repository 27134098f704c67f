import type { RegistryWriting } from '#persistence';

/** Fewer written nodes are left to the database's own upkeep. */
const many = 1000;

export async function settleMany(writing: RegistryWriting, written: number): Promise<void> {
  if (written >= many) await writing.settle();
}

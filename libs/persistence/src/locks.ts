/** The numbers of the advisory locks that this project takes in its database. */
export const advisoryLocks = {
  /** One migrator at a time, for its session. */
  migration: 727_001,
  /** One writer of the node registry at a time, for its transaction. */
  registryWrite: 727_002,
  /** One worker at a time makes or drops partitions. */
  partitions: 727_003,
  /** One worker at a time replaces aged-out runs by their tombstones. */
  ageOut: 727_004,
  /** One file of a workspace at a time is reserved, for its transaction; the second number is the workspace's. */
  fileReservation: 727_005,
  /** The keys of a workspace are made and ended one at a time, for a transaction; the second number is the workspace's. */
  apiKeys: 727_006,
} as const;

/** The numbers of the advisory locks that this project takes in its database. */
export const advisoryLocks = {
  /** One migrator at a time; held for its session. */
  migration: 727_001,
  /** One writer of the node registry at a time; held for its transaction. */
  registryWrite: 727_002,
  /** One worker at a time creates or drops partitions. */
  partitions: 727_003,
  /** One worker at a time deletes expired runs. */
  ageOut: 727_004,
  /**
   * One file reservation of a workspace at a time; held for a transaction. The second number identifies the
   * workspace.
   */
  fileReservation: 727_005,
  /**
   * One change to the keys of a workspace at a time; held for a transaction. The second number identifies the
   * workspace.
   */
  apiKeys: 727_006,
  /** One new sample of a model at a time; held for a transaction. The second number identifies the model. */
  modelSamples: 727_007,
} as const;

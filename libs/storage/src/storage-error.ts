/**
 * `not_found`: nothing is stored there, or the signed URL does not open it. `too_large`: the body is longer
 * than allowed. `bad_key`: no store takes such a key. `unavailable`: the store failed or gave no answer.
 */
export type StorageFailure = 'not_found' | 'too_large' | 'bad_key' | 'unavailable';

export class StorageError extends Error {
  constructor(
    readonly failure: StorageFailure,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'StorageError';
  }
}

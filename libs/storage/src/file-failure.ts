import { StorageError } from './storage-error.js';

/** What the file system said, in the words of the port. */
export function folderFailed(error: unknown, key: string): unknown {
  if (error instanceof StorageError) return error;
  return new StorageError('unavailable', `The asset folder failed at ${key}`, { cause: error });
}

export function readFailure(error: unknown, key: string): unknown {
  if (!['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return folderFailed(error, key);
  return new StorageError('not_found', `No asset ${key}`, { cause: error });
}

/** Of the step that puts a file into its place: a key in the way of another one. */
export function placeFailure(error: unknown): unknown {
  if (!['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY'].includes(codeOf(error))) return error;
  return new StorageError('bad_key', 'A key is the folder of another key', { cause: error });
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

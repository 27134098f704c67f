import { StorageError } from './storage-error.js';

const segment = '[A-Za-z0-9][A-Za-z0-9._-]*';
const keyPattern = new RegExp(`^${segment}(?:/${segment})*$`);
const prefixPattern = /^(?:[A-Za-z0-9][A-Za-z0-9._/-]*)?$/;
const maxLength = 512;

/** Throws `bad_key`. The characters need no escaping in a path, in a URL or in a signature. */
export function checkKey(key: string): void {
  check(key, keyPattern);
}

/** Like a key, but it may end anywhere, and be empty. */
export function checkPrefix(prefix: string): void {
  check(prefix, prefixPattern);
  if (prefix.includes('//')) refuse(prefix);
}

function check(text: string, pattern: RegExp): void {
  if (text.length > maxLength || text.includes('..') || !pattern.test(text)) refuse(text);
}

function refuse(text: string): never {
  throw new StorageError('bad_key', `Not an asset key: ${JSON.stringify(text.slice(0, 80))}`);
}

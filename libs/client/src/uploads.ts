import { call, type Connection, parsed } from './calls.js';
import type { FileInput } from './models.js';

/** Uploads a file for use in inputs, and returns the URL that stands for it there. */
export async function uploaded(
  connection: Connection,
  file: FileInput,
  signal: AbortSignal,
): Promise<string> {
  const blob = file instanceof Blob ? file : new Blob([file]);
  const headers = { 'content-type': blob.type || 'application/octet-stream' };
  const request = { method: 'POST', url: '/v2/files', headers, body: blob, tryMs: 600_000 } as const;
  return (parsed((await call(connection, request, signal)).bytes) as { url: string }).url;
}

/** The input with the URL of each file in its place; a file that stands in it twice is uploaded once. */
export async function withFilesUploaded(
  connection: Connection,
  input: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const urls = new Map<FileInput, Promise<string>>();
  const replaced = async (value: unknown): Promise<unknown> => {
    if (value instanceof Blob || value instanceof Uint8Array || value instanceof ArrayBuffer) {
      const file = value as FileInput;
      const url = urls.get(file) ?? uploaded(connection, file, signal);
      urls.set(file, url);
      return url;
    }
    if (Array.isArray(value)) return Promise.all(value.map(replaced));
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
      return value;
    const members = Object.entries(value).map(async ([name, member]) => [name, await replaced(member)]);
    return Object.fromEntries(await Promise.all(members));
  };
  return replaced(input);
}

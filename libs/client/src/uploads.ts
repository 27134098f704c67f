import { call, type Connection, parsed } from './calls.js';
import type { FileInput } from './models.js';

/** Uploads a file for use in inputs, and returns the URL that stands for it there. */
export async function uploaded(
  connection: Connection,
  file: FileInput,
  signal: AbortSignal,
): Promise<string> {
  if (!isFile(file)) throw new TypeError('Only a Blob, a Uint8Array or an ArrayBuffer can be uploaded.');
  // Bytes that threads share are refused at run time.
  const blob = file instanceof Blob ? file : new Blob([file as ArrayBuffer]);
  const headers = { 'content-type': blob.type || 'application/octet-stream' };
  const request = { method: 'POST', url: '/v2/files', headers, body: blob, tryMs: 600_000 } as const;
  return (parsed((await call(connection, request, signal)).bytes) as { url: string }).url;
}

/** The input as JSON, with the URL of each file in its place; a file that stands in it twice is uploaded once. */
export async function withFilesUploaded(
  connection: Connection,
  input: unknown,
  signal: AbortSignal,
): Promise<string> {
  const upload = async (file: FileInput) => [file, await uploaded(connection, file, signal)] as const;
  const urls = new Map<unknown, string>(await Promise.all([...filesIn(input)].map(upload)));
  return JSON.stringify(input, function (this: Record<string, unknown>, name, value: unknown) {
    // `value` is what a Buffer's toJSON gives, and this the Buffer.
    return urls.get(this[name]) ?? value;
  });
}

function isFile(value: unknown): value is FileInput {
  return value instanceof Blob || value instanceof Uint8Array || value instanceof ArrayBuffer;
}

function filesIn(value: unknown, files = new Set<FileInput>(), seen = new Set<unknown>()): Set<FileInput> {
  if (isFile(value)) return files.add(value);
  if (typeof value !== 'object' || value === null || seen.has(value)) return files;
  seen.add(value);
  const { getReader, pipe } = value as { getReader?: unknown; pipe?: unknown };
  if (ArrayBuffer.isView(value) || typeof getReader === 'function' || typeof pipe === 'function')
    throw new TypeError('A stream or an array of numbers cannot be uploaded: make a Blob of it.');
  // What makes its own JSON, as a Date does, holds no file.
  if ('toJSON' in value) return files;
  for (const member of Object.values(value)) filesIn(member, files, seen);
  return files;
}

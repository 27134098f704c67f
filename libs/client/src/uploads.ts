import { call, type Connection, parsed } from './calls.js';
import type { FileInput } from './models.js';
import type { UploadedFile } from './wire.js';

/** Uploads a file, whose URL is for use in inputs. */
export async function uploadedFile(
  connection: Connection,
  file: FileInput,
  signal: AbortSignal,
): Promise<UploadedFile> {
  if (!isFile(file)) throw new TypeError('A file must be a Blob, a Uint8Array or an ArrayBuffer.');
  // `Blob` rejects shared memory at run time.
  const blob = file instanceof Blob ? file : new Blob([file as ArrayBuffer]);
  const headers = { 'content-type': blob.type || 'application/octet-stream' };
  const request = { method: 'POST', url: '/v2/files', headers, body: blob, tryMs: 600_000 } as const;
  return parsed((await call(connection, request, signal)).bytes) as UploadedFile;
}

/**
 * The body of a run: a string as it is, anything else as JSON, with `extra` added and each file replaced by its URL. A
 * file that occurs twice is uploaded once.
 */
export async function inputText(
  connection: Connection,
  given: unknown,
  extra: object | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (typeof given === 'string') {
    if (extra !== undefined) throw new TypeError('An input that is a string cannot have extra fields.');
    return given;
  }
  const input = extra === undefined ? given : { ...(given as object), ...extra };
  const upload = async (file: FileInput) =>
    [file, (await uploadedFile(connection, file, signal)).url] as const;
  const urls = new Map<unknown, string>(await Promise.all([...filesIn(input)].map(upload)));
  return JSON.stringify(input, function (this: Record<string, unknown>, name, value: unknown) {
    // For a Buffer, `value` is already the result of its toJSON; `this[name]` is the Buffer itself.
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
    throw new TypeError(
      'Streams and arrays of numbers cannot be uploaded. Convert the value to a Blob first.',
    );
  // Objects with a toJSON method, such as dates, are not searched for files.
  if ('toJSON' in value) return files;
  for (const member of Object.values(value)) filesIn(member, files, seen);
  return files;
}

import { hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

export const maxDocumentBytes = 4 * 1024 * 1024;

/** A file of a catalog directory, as it was when the directory was read. */
export interface CatalogFile {
  path: string;
  /** The SHA-256 of its bytes in hex. Of a file that is larger than any row or document may be, of its size. */
  digest: string;
  size: number;
  /** The text of a row. */
  text?: string;
  /** Whether all references of a document lead to places in the same document. */
  isWhole?: boolean;
  /** Why the file could not be read. */
  error?: unknown;
}

/** Skips hidden names: a mounted config map has its files a second time in a hidden folder. */
const namesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory))
    .filter((name) => /\.(ya?ml|json)$/.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name));

export const isRow = (path: string): boolean => /\.ya?ml$/.test(path);

/**
 * Reads every row and document of a directory, in turns of the event loop. The bytes of a document are not kept.
 * Throws if the directory is not readable.
 */
export async function filesIn(directory: string): Promise<CatalogFile[]> {
  const files: CatalogFile[] = [];
  const yieldAtTimes = turns();
  for (const path of await namesIn(directory)) {
    await yieldAtTimes();
    files.push(fileAt(path));
  }
  return files;
}

const buffer = Buffer.allocUnsafe(256 * 1024);

// Files are small and mostly in the page cache, where a synchronous read takes a tenth of an asynchronous one.
function fileAt(path: string): CatalogFile {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const { size } = fstatSync(descriptor);
    if (size > maxDocumentBytes) return { path, size, digest: digestOf(String(size)) };
    const room = size > buffer.length ? Buffer.allocUnsafe(size) : buffer;
    const bytes = room.subarray(0, readSync(descriptor, room, 0, size, 0));
    return {
      path,
      size: bytes.length,
      digest: digestOf(bytes),
      ...(isRow(path) ? { text: bytes.toString() } : { isWhole: isWhole(bytes) }),
    };
  } catch (error) {
    return { path, size: 0, digest: '', error };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Parsing the document instead would take longer than everything else that reads it at the start. */
function isWhole(document: Buffer): boolean {
  // The name of a document ends so, but texts may too.
  if (!document.includes('.json')) return true;
  const name = '"$ref"';
  for (let at = document.indexOf(name); at >= 0; at = document.indexOf(name, at + name.length)) {
    const next = document.toString('latin1', at + name.length, at + name.length + 8);
    if (!/^\s*:\s*"#/.test(next)) return false;
  }
  return true;
}

export const digestOf = (bytes: string | Uint8Array): string => hash('sha256', bytes);

/** A hash of the names and contents of the files, wherever their directory is. */
export const revisionOfFiles = (files: readonly CatalogFile[]): string =>
  digestOf(files.map(({ path, size, digest }) => `${basename(path)} ${size} ${digest}\n`).join(''));

const turnMs = 5;

/** Returns a function that gives way to other work of the process if the current turn has taken five milliseconds. */
export function turns(): () => Promise<void> {
  let startedMs = performance.now();
  return async () => {
    if (performance.now() - startedMs < turnMs) return;
    await setImmediate();
    startedMs = performance.now();
  };
}

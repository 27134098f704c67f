import { blobOf } from '../../api/files.ts';
import { texts } from '../../texts/index.ts';
import { bytes } from '../../parts/quantities.ts';

interface Named {
  name: string;
  url: string;
}

/** A browser holds the archive until it is saved. */
const maxBytes = 1_000_000_000;
const maxFiles = 500;

/**
 * Packs files into one archive, uncompressed because media are compressed. Files are read one after another, and their
 * bytes go into the archive as they arrive. Throws if the archive would be too large or a file can't be read.
 */
export async function zipped(
  files: readonly Named[],
  { signal, onFile }: { signal: AbortSignal; onFile: (files: number) => void },
): Promise<Blob> {
  if (files.length === 0) throw new Error(texts.outputs.nothing);
  if (files.length > maxFiles) throw new Error(texts.outputs.tooMany(maxFiles));
  const { Zip, ZipPassThrough } = await import('fflate');
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    parts.push(chunk);
  });
  const names = new Set<string>();
  let total = 0;
  for (const [at, { name, url }] of files.entries()) {
    const entry = new ZipPassThrough(distinct(name, names));
    zip.add(entry);
    for await (const chunk of chunksOf(url, name, signal)) {
      total += chunk.length;
      if (total > maxBytes) throw new Error(texts.outputs.tooLarge(bytes(maxBytes)));
      entry.push(chunk);
    }
    entry.push(new Uint8Array(), true);
    onFile(at + 1);
  }
  zip.end();
  return new Blob(parts, { type: 'application/zip' });
}

async function* chunksOf(url: string, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let body: ReadableStream<Uint8Array> | null;
  try {
    body = url.startsWith('data:') ? (await blobOf(url)).stream() : await opened(url, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Error(texts.outputs.unread(name), { cause: error });
  }
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return;
    yield value;
  }
}

async function opened(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null> {
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.body;
}

function distinct(name: string, taken: Set<string>): string {
  let free = name;
  for (let nth = 2; taken.has(free); nth += 1) free = name.replace(/(\.\w+)?$/, ` (${nth})$1`);
  taken.add(free);
  return free;
}

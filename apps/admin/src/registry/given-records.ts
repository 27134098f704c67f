import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { elementLines } from './element-lines.js';

/** A value in a file, or why it is invalid, and its place. `bytes` counts from the start of the file. */
type Given = { line: number; bytes: number } & ({ value: unknown } | { reason: string });

/** Reads the values in a file of JSON Lines or in a JSON document: an array, a page of nodes, or one node. */
export async function* givenRecords(file: string): AsyncGenerator<Given> {
  if (await isDocument(file)) yield* documentRecords(await readFile(file, 'utf8'));
  else yield* lineRecords(file);
}

async function* lineRecords(file: string): AsyncGenerator<Given> {
  const input = createReadStream(file, 'utf8');
  // Rejects if the file cannot be read, whereas readline alone would wait forever.
  await once(input, 'ready');
  let line = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line += 1;
    const trimmed = text.replace(/^\uFEFF/, '').trim();
    if (trimmed !== '') yield { line, bytes: input.bytesRead, ...parsed(trimmed) };
  }
}

function* documentRecords(text: string): Generator<Given> {
  const whole = parsed(text.replace(/^\uFEFF/, ''));
  const bytes = Buffer.byteLength(text);
  if ('reason' in whole) return yield { line: 1, bytes, ...whole };
  const { value } = whole;
  const elements = Array.isArray(value) ? value : pageNodes(value);
  if (elements === null) return yield { line: 1, bytes, value };
  const lines = elementLines(text, Array.isArray(value) ? null : 'nodes');
  for (const [index, element] of elements.entries()) {
    yield { line: lines[index] ?? 1, bytes: (bytes * (index + 1)) / elements.length, value: element };
  }
}

/**
 * Whether the file is one JSON document. It is a file of lines if its first line is a complete value other
 * than a page, or if its first line is broken and the whole file is not valid JSON either.
 */
async function isDocument(file: string): Promise<boolean> {
  const input = createReadStream(file, 'utf8');
  await once(input, 'ready');
  let first = '';
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    first = text.replace(/^\uFEFF/, '').trim();
    if (first !== '') break;
  }
  input.destroy();
  if (first.startsWith('[')) return true;
  const value = parsed(first);
  if ('value' in value) return pageNodes(value.value) !== null;
  const { size } = await stat(file);
  return size < maxDocumentBytes && 'value' in parsed(await readFile(file, 'utf8'));
}

/** The maximum length of a string in V8. */
const maxDocumentBytes = 2 ** 29 - 24;

const pageNodes = (value: unknown): unknown[] | null =>
  typeof value === 'object' && value !== null && 'nodes' in value && Array.isArray(value.nodes)
    ? value.nodes
    : null;

function parsed(text: string): { value: unknown } | { reason: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { reason: `not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

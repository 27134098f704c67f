import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readControl } from '../control.js';
import type { Generation } from './generation.js';

/** What only this process has counted. */
type Unsaved = 'pollCount' | 'resultCount' | 'assetCount' | 'replySha256';

type Saved = Omit<Generation, 'body' | 'control' | Unsaved> & {
  bodyBase64: string;
};

export type LedgerEvent =
  | { event: 'accepted'; generation: Generation }
  | { event: 'cancel'; provider: string; id: string; askedAtMs: number; canceledAtMs: number | null }
  | { event: 'reset' };

/**
 * JSON lines, written synchronously: a line is in the kernel before the submission is answered, so a killed
 * simulator still knows after a restart what it had accepted.
 */
export function openLedgerFile(path: string): {
  past: LedgerEvent[];
  append(event: LedgerEvent): void;
  close(): void;
} {
  mkdirSync(dirname(path), { recursive: true });
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const file = openSync(path, 'a');
  // A kill in the middle of a write leaves half a line; the next line must not be glued to it.
  if (text !== '' && !text.endsWith('\n')) writeSync(file, '\n');
  return {
    past: text.split('\n').flatMap(readLine),
    append: (event) => void writeSync(file, `${JSON.stringify(toLine(event))}\n`),
    close: () => closeSync(file),
  };
}

function toLine(event: LedgerEvent): object {
  if (event.event !== 'accepted') return event;
  const {
    body,
    control: _c,
    pollCount: _p,
    resultCount: _r,
    assetCount: _a,
    replySha256: _s,
    ...facts
  } = event.generation;
  return { event: 'accepted', ...facts, bodyBase64: body.toString('base64') } satisfies Saved & {
    event: string;
  };
}

function readLine(line: string): LedgerEvent[] {
  if (line === '') return [];
  let read: ({ event: 'accepted' } & Saved) | Exclude<LedgerEvent, { event: 'accepted' }>;
  try {
    read = JSON.parse(line) as typeof read;
  } catch {
    return [];
  }
  if (read.event !== 'accepted') return [read];
  const { event: _event, bodyBase64, ...facts } = read;
  const generation: Generation = {
    ...facts,
    body: Buffer.from(bodyBase64, 'base64'),
    control: readControl(facts.tokens).control,
    pollCount: 0,
    resultCount: 0,
    assetCount: 0,
    replySha256: null,
  };
  return [{ event: 'accepted', generation }];
}

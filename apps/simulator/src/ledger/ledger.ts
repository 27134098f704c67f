import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { readControl } from '../control.js';
import type { Generation } from './generation.js';

/** All accepted submissions. Providers never forget one, except after a reset. */
export class Ledger {
  private readonly byKey = new Map<string, Generation>();
  private readonly file: number | undefined;

  /**
   * The file gets a JSON line when a generation is accepted and when its cancellation is requested. It is written
   * synchronously, before the answer, so that a simulator that is killed still knows after a restart what it accepted.
   */
  constructor(file?: string) {
    if (file === undefined) return;
    mkdirSync(path.dirname(file), { recursive: true });
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    for (const line of text.split('\n')) {
      const generation = readLine(line);
      if (generation) this.byKey.set(keyOf(generation), generation);
    }
    this.file = openSync(file, 'a');
    // A kill during a write leaves half a line. The next line must not continue it.
    if (text !== '' && !text.endsWith('\n')) writeSync(this.file, '\n');
  }

  accept(facts: Omit<Generation, 'order'>): Generation {
    const generation = { ...facts, order: this.byKey.size + 1 };
    this.write(generation);
    this.byKey.set(keyOf(generation), generation);
    return generation;
  }

  /** `canceledAtMs` is null if the request has no effect. Only the first request is recorded. */
  cancel(generation: Generation, cancelAskedAtMs: number, canceledAtMs: number | null): void {
    if (generation.cancelAskedAtMs !== null) return;
    this.write(Object.assign(generation, { cancelAskedAtMs, canceledAtMs }));
  }

  find(provider: string, id: string): Generation | undefined {
    return this.byKey.get(keyOf({ provider, id }));
  }

  /** In order of acceptance. */
  list(only: { provider?: string | undefined; tag?: string | undefined } = {}): Generation[] {
    return [...this.byKey.values()].filter(
      (each) =>
        (only.provider === undefined || each.provider === only.provider) &&
        (only.tag === undefined || each.tag === only.tag),
    );
  }

  reset(): void {
    this.byKey.clear();
    if (this.file !== undefined) ftruncateSync(this.file);
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
  }

  private write(generation: Generation): void {
    if (this.file === undefined) return;
    const { control: _control, body, ...facts } = generation;
    writeSync(this.file, `${JSON.stringify({ ...facts, body: body.toString('base64') })}\n`);
  }
}

const keyOf = ({ provider, id }: Pick<Generation, 'provider' | 'id'>): string => `${provider}/${id}`;

function readLine(line: string): Generation | undefined {
  try {
    const { body, ...facts } = JSON.parse(line) as Omit<Generation, 'body' | 'control'> & { body: string };
    const { control } = readControl(facts.tokens);
    return { ...facts, body: Buffer.from(body, 'base64'), control };
  } catch {
    return undefined;
  }
}

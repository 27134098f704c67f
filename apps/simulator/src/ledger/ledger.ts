import type { Generation } from './generation.js';
import { openLedgerFile, type LedgerEvent } from './ledger-file.js';

/** Every accepted submission, append-only. What a partner has accepted it never forgets, short of a reset. */
export class Ledger {
  private readonly byKey = new Map<string, Generation>();
  private readonly file: ReturnType<typeof openLedgerFile> | undefined;

  constructor(path?: string) {
    this.file = path === undefined ? undefined : openLedgerFile(path);
    for (const event of this.file?.past ?? []) this.apply(event);
  }

  accept(facts: Omit<Generation, 'order'>): Generation {
    const generation = { ...facts, order: this.byKey.size + 1 };
    this.record({ event: 'accepted', generation });
    return generation;
  }

  /** `canceledAtMs` is null when the ask has no effect. Only the first ask is kept. */
  cancel(generation: Generation, askedAtMs: number, canceledAtMs: number | null): void {
    if (generation.cancelAskedAtMs !== null) return;
    const { provider, id } = generation;
    this.record({ event: 'cancel', provider, id, askedAtMs, canceledAtMs });
  }

  find(provider: string, id: string): Generation | undefined {
    return this.byKey.get(`${provider}/${id}`);
  }

  /** In the order of acceptance. */
  list(only: { provider?: string | undefined; tag?: string | undefined } = {}): Generation[] {
    return [...this.byKey.values()].filter(
      (each) =>
        (only.provider === undefined || each.provider === only.provider) &&
        (only.tag === undefined || each.tag === only.tag),
    );
  }

  get size(): number {
    return this.byKey.size;
  }

  reset(): void {
    this.record({ event: 'reset' });
  }

  close(): void {
    this.file?.close();
  }

  private record(event: LedgerEvent): void {
    this.file?.append(event);
    this.apply(event);
  }

  private apply(event: LedgerEvent): void {
    if (event.event === 'reset') {
      this.byKey.clear();
    } else if (event.event === 'accepted') {
      this.byKey.set(`${event.generation.provider}/${event.generation.id}`, event.generation);
    } else {
      const generation = this.find(event.provider, event.id);
      if (!generation) return;
      generation.cancelAskedAtMs = event.askedAtMs;
      generation.canceledAtMs = event.canceledAtMs;
    }
  }
}

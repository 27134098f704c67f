import { setTimeout as pause } from 'node:timers/promises';
import type { Prometheus } from '../harness/prometheus.js';

interface Firing {
  name: string;
  /** The text with the labels filled in, as on-call reads it. */
  summary: string;
  severity: string;
  /** Where it fires; empty for an alert without such a label. */
  namespace: string;
  sinceMs: number;
  untilMs: number;
}

/** Every alert that fires while it watches, with the first and the last time at which it did. */
export class AlertRecord {
  readonly firings: Firing[] = [];
  private readonly stopping = new AbortController();
  private readonly watching: Promise<void>;

  constructor(private readonly prometheus: Prometheus) {
    this.watching = this.watch();
  }

  /** The firings in a namespace that began after a time. */
  since(namespace: string, sinceMs: number): Firing[] {
    return this.firings.filter((each) => each.namespace === namespace && each.sinceMs >= sinceMs);
  }

  /** Whether no alert has fired in the namespace for some seconds. */
  isQuiet(namespace: string, forMs = 5_000): boolean {
    return this.firings.every((each) => each.namespace !== namespace || each.untilMs < Date.now() - forMs);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.watching;
  }

  private async watch(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const now = Date.now();
      for (const { labels, annotations, state } of await this.prometheus.alerts()) {
        if (state !== 'firing') continue;
        const { alertname: name = '', namespace = '', severity = '' } = labels;
        const known = this.firings.findLast((each) => each.name === name && each.namespace === namespace);
        // A pause of some seconds belongs to the same firing, because values around a threshold flap.
        if (known && known.untilMs > now - 5_000) known.untilMs = now;
        else {
          const summary = annotations['summary'] ?? '';
          this.firings.push({ name, namespace, severity, summary, sinceMs: now, untilMs: now });
        }
      }
      await pause(500);
    }
  }
}

import { randomUUID } from 'node:crypto';
import type { RunningApp } from './spawn-app.js';

interface LedgerEntry {
  provider: string;
  id: string;
  model: string;
  order: number;
  atMs: number;
  tag: string | null;
  /** The account of the key, as in `sim-account-a`. */
  account: string | null;
  prompt: string;
  bodySha256: string;
  bodyBase64: string;
  cancelAskedAtMs: number | null;
  canceledAtMs: number | null;
  state: string;
  pollCount: number;
  /** When the router closed the connection of a stream before its end. */
  abortedAtMs: number | null;
  /** The tokens of a stream so far, which the provider charges. */
  used: { read: number; written: number } | null;
  /** Digest of the result that the provider returned. */
  replySha256: string | null;
}

const longMs = 300_000;
/** In a prompt, beside a tag: the run lasts until `ProviderSide.finish`. */
export const unending = `[[sim:takes=${longMs}]]`;

/** A unique tag, so that this test's runs are counted and finished separately. */
export const newTag = (about: string): string => `${about}-${randomUUID().slice(0, 8)}`;

/** The providers' view: the simulator's append-only record. */
export class ProviderSide {
  constructor(private readonly simulator: Pick<RunningApp, 'url'>) {}

  async ledger(tag?: string): Promise<LedgerEntry[]> {
    const query = tag === undefined ? '' : `?tag=${encodeURIComponent(tag)}`;
    return (await this.get<{ entries: LedgerEntry[] }>(`/ledger${query}`)).entries;
  }

  /**
   * For one tag: the number of accepted submissions, the highest number live at once, and the order of their
   * starts.
   */
  peaks(tag: string): Promise<{ accepted: number; live: number; peak: number; startOrder: string[] }> {
    return this.get(`/peaks?tag=${encodeURIComponent(tag)}`);
  }

  /** The number of accepted submissions under one tag. */
  async accepted(tag: string): Promise<number> {
    return (await this.peaks(tag)).accepted;
  }

  /**
   * Requests with a key at an address that must not get one, with a header that callers send to the router, or with the key
   * of another account than the one that submitted the run.
   */
  async violations(): Promise<number> {
    const { violations } = await this.get<{ violations: unknown[] | number }>('/requests');
    return Array.isArray(violations) ? violations.length : violations;
  }

  /** An account key for every provider. */
  keys(): Promise<Record<string, string>> {
    return this.get('/keys');
  }

  /** Makes every provider answer calls with a key of the account like this, until it is null. */
  answerAccount(
    account: string,
    answer: { status: 401 | 402 | 429; retryAfterSeconds?: number } | null,
  ): Promise<void> {
    return this.post('/accounts', { account, answer });
  }

  /** Moves the providers' clock forward, so that runs finish earlier. */
  advance(advanceMs: number): Promise<void> {
    return this.post('/clock', { advanceMs });
  }

  /**
   * Finishes everything that the providers have accepted by now; with a tag, only what was accepted under it.
   */
  finish(tag?: string): Promise<void> {
    return tag === undefined ? this.advance(longMs) : this.post('/finish', { tag });
  }

  private async post(path: string, body: object): Promise<void> {
    const response = await fetch(`${this.simulator.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }

  private async get<T>(path: string): Promise<T> {
    const response = await fetch(`${this.simulator.url}${path}`, { signal: AbortSignal.timeout(30_000) });
    return (await response.json()) as T;
  }
}

import { RouterError } from '#errors';
import { Turns } from '#observability';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../http/network.js';

/** Maximum number of tracked addresses. An evicted address starts again with a full allowance. */
const maxAddresses = 100_000;
/** An address may use the allowance of this time in one burst. */
const burstMs = 6000;
const maxWaitingOfOne = 1000;

/**
 * Limits the pages that are read from the database: a token bucket for each address, and turns among the addresses,
 * so that an address that requests a thousand pages delays another by only one.
 */
export class NodeReads {
  /** The time at which an address has its full allowance again. */
  private readonly restoredAtMs = new LRUCache<string, number>({ max: maxAddresses });
  private readonly turns: Turns;

  constructor(
    private readonly perMinute: number,
    maxReading: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.turns = new Turns({ max: maxReading, maxWaitingOfOne, refusal: () => this.spent() });
  }

  /**
   * Reads in the address's turn. Rejects immediately if the address has used its allowance or has too many reads
   * waiting.
   */
  async take<Result>(address: string, read: () => Promise<Result>): Promise<Result> {
    const network = networkOf(address);
    this.count(network);
    return this.turns.take(network, read);
  }

  private count(network: string): void {
    const readMs = 60_000 / this.perMinute;
    const nowMs = this.nowMs();
    const restoredAtMs = Math.max(this.restoredAtMs.get(network) ?? 0, nowMs) + readMs;
    if (restoredAtMs > nowMs + Math.max(burstMs, readMs)) throw this.spent();
    this.restoredAtMs.set(network, restoredAtMs);
  }

  /** A 500, because the interface of the registry does not define a 429. */
  private spent(): RouterError {
    return new RouterError(
      'rate_limited',
      `This address reads too many pages at once, or more than ${this.perMinute} a minute; slow down.`,
      { status: 500 },
    );
  }
}

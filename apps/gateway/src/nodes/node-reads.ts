import { RouterError } from '#errors';
import { Turns } from '#observability';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../http/network.js';

/** Addresses that are remembered; a forgotten one has its whole allowance again. */
const maxAddresses = 100_000;
/** This many seconds of the allowance may be used at once. */
const burstSeconds = 6;
const maxWaitingOfOne = 1000;

/**
 * Limits the pages that are read from the database: a token bucket for each address, and turns among the addresses, so
 * that an address that asks for a thousand pages delays another by one.
 */
export class NodeReads {
  private readonly used = new LRUCache<string, { reads: number; atMs: number }>({ max: maxAddresses });
  private readonly turns: Turns;

  constructor(
    private readonly perMinute: number,
    maxReading: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.turns = new Turns({ max: maxReading, maxWaitingOfOne, refusal: () => this.spent() });
  }

  /** Reads in the address's turn. Rejects at once for an address that has used its allowance, or that has too many reads waiting. */
  async take<Result>(address: string, read: () => Promise<Result>): Promise<Result> {
    const network = networkOf(address);
    this.count(network);
    return this.turns.take(network, read);
  }

  private count(network: string): void {
    const perSecond = this.perMinute / 60;
    const atMs = this.nowMs();
    const before = this.used.get(network) ?? { reads: 0, atMs };
    const reads = Math.max(before.reads - ((atMs - before.atMs) * perSecond) / 1000, 0) + 1;
    if (reads > Math.max(perSecond * burstSeconds, 1)) throw this.spent();
    this.used.set(network, { reads, atMs });
  }

  /** A 500, because the interface of the registry knows no 429. */
  private spent(): RouterError {
    return new RouterError(
      'rate_limited',
      `This address reads too many pages at once, or more than ${this.perMinute} a minute; please slow down.`,
      { status: 500 },
    );
  }
}

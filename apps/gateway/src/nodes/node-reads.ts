import { RouterError } from '#errors';
import { LRUCache } from 'lru-cache';

/** Addresses that are remembered; one that is forgotten has its whole allowance again. */
const maxAddresses = 100_000;
/** So many seconds of the allowance may be used at once. */
const burstSeconds = 6;
const maxWaiting = 1000;

/**
 * Bounds what reads pages from the database: a token bucket for each address, and turns among the addresses, so that one
 * that asks for a thousand pages delays another by one.
 */
export class NodeReads {
  private readonly used = new LRUCache<string, { reads: number; atMs: number }>({ max: maxAddresses });
  /** By address; the first one is next. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private reading = 0;

  constructor(
    private readonly perMinute: number,
    private readonly maxReading: number,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Counts a read. Throws for an address that has used its allowance, or that has too many reads waiting. */
  count(address: string): void {
    const network = networkOf(address);
    const perSecond = this.perMinute / 60;
    const atMs = this.nowMs();
    const before = this.used.get(network) ?? { reads: 0, atMs };
    const reads = Math.max(before.reads - ((atMs - before.atMs) * perSecond) / 1000, 0) + 1;
    const isWaiting = (this.waiting.get(network)?.length ?? 0) >= maxWaiting;
    if (isWaiting || reads > Math.max(perSecond * burstSeconds, 1)) throw this.spent();
    this.used.set(network, { reads, atMs });
  }

  /** Reads when it is the address's turn. */
  async inTurn<Result>(address: string, read: () => Promise<Result>): Promise<Result> {
    if (this.reading < this.maxReading) this.reading += 1;
    else await this.turn(networkOf(address));
    try {
      return await read();
    } finally {
      this.next();
    }
  }

  private turn(network: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.waiting.get(network) ?? [];
      this.waiting.set(network, line);
      line.push(resolve);
    });
  }

  private next(): void {
    for (const [network, line] of this.waiting) {
      this.waiting.delete(network);
      const begin = line.shift();
      // Behind all others.
      if (line.length > 0) this.waiting.set(network, line);
      return begin?.();
    }
    this.reading -= 1;
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

/** An IPv6 caller has a whole network of addresses: its first 64 bits count. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const [first, last] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - (first?.length ?? 0) - (last?.length ?? 0) }, () => '0');
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':');
}

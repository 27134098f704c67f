import { SETTINGS } from '#infrastructure';
import { Turns, waitIn, type Waits } from '#observability';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { LookupAddress } from 'node:dns';
import type { WorkerSettings } from '../settings.js';
import { HostsFile } from './hosts-file.js';
import { type Absence, type Answer, lookUp } from './look-up.js';

/** The workspace whose names are resolved, and the signal that ends the wait. */
export interface ResolveTerms {
  workspaceId: string;
  signal: AbortSignal;
}

/** A name without an address; its code is one of `dns.lookup`. */
export class UnresolvedName extends Error {
  constructor(
    name: string,
    readonly code: Absence,
    options?: ErrorOptions,
  ) {
    super(`${name} has no address: ${code}`, options);
    this.name = 'UnresolvedName';
  }
}

/** Names of one workspace that are looked up at once. */
const maxOfWorkspace = 8;
/** How long it is remembered that a name has no address, or that no server answered for it. */
const absentMs = 60_000;
/** Addresses are used for as long as their records say, within these limits. */
const minFreshMs = 5_000;
const maxFreshMs = 60_000;
const maxKept = 10_000;
/** While no server answers for a name, the addresses that it had are used for this long. */
const maxKeptMs = 3_600_000;
/** No name in DNS is longer. */
const maxNameLength = 253;

interface Kept {
  addresses: readonly LookupAddress[];
  absence?: Absence;
  freshUntilMs: number;
}

/**
 * Resolves the host names that callers and providers' replies give. A name whose DNS is silent keeps only its own
 * workspace waiting, one that failed is not looked up again for a minute, and the operator's names never wait for them.
 * Names are fully qualified: the search domains of /etc/resolv.conf lead to private addresses, which are refused anyway.
 */
@Injectable()
export class NameResolver {
  private readonly kept = new LRUCache<string, Kept>({ max: maxKept, ttl: maxKeptMs });
  private readonly underWay = new Map<string, SharedWork<Kept>>();
  private readonly turns = new Turns({ maxOfOne: maxOfWorkspace });

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'CALLER_DNS_SERVERS'>,
    @Optional() private readonly hosts = new HostsFile(),
    @Optional() private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Rejects with `UnresolvedName`, also when the signal aborts. */
  async resolve(hostname: string, { workspaceId, signal }: ResolveTerms): Promise<readonly LookupAddress[]> {
    const name = nameOf(hostname);
    if (name.length > maxNameLength) throw new UnresolvedName(hostname, 'ENOTFOUND');
    const listed = await this.hosts.addressesOf(name);
    if (listed.length > 0) return this.keep(name, listed, minFreshMs).addresses;
    const { addresses, absence } = this.fresh(name) ?? (await this.join(name, workspaceId, signal));
    if (absence !== undefined) throw new UnresolvedName(hostname, absence);
    return addresses;
  }

  /** The addresses that `resolve` found last, without looking anything up. */
  known(hostname: string): readonly LookupAddress[] {
    return this.kept.get(nameOf(hostname))?.addresses ?? [];
  }

  /** Several that want the same name share one look-up. */
  private async join(name: string, workspaceId: string, signal: AbortSignal): Promise<Kept> {
    const key = `${workspaceId} ${name}`;
    const begun = this.underWay.get(key);
    const work =
      begun && !begun.isLeft ? begun : new SharedWork((left) => this.inTurn(name, workspaceId, left));
    this.underWay.set(key, work);
    try {
      return await work.wait(signal);
    } catch (error) {
      throw new UnresolvedName(name, 'EAI_AGAIN', { cause: error });
    } finally {
      if (work.isLeft && this.underWay.get(key) === work) this.underWay.delete(key);
    }
  }

  private inTurn(name: string, workspaceId: string, signal: AbortSignal): Promise<Kept> {
    const work = async () => {
      // Another workspace may have looked it up meanwhile.
      const kept = this.fresh(name);
      return kept ?? this.record(name, await lookUp(name, this.settings.CALLER_DNS_SERVERS, signal));
    };
    return this.turns.take(workspaceId, work, signal);
  }

  private fresh(name: string): Kept | undefined {
    const kept = this.kept.get(name);
    return kept && kept.freshUntilMs > this.nowMs() ? kept : undefined;
  }

  private record(name: string, answer: Answer): Kept {
    if ('addresses' in answer) {
      const freshMs = Math.min(Math.max(answer.ttlSeconds * 1000, minFreshMs), maxFreshMs);
      return this.keep(name, answer.addresses, freshMs);
    }
    const { absence } = answer;
    const before = this.known(name);
    const freshUntilMs = this.nowMs() + absentMs;
    const hasOldAddresses = absence === 'EAI_AGAIN' && before.length > 0;
    const kept = hasOldAddresses
      ? { addresses: before, freshUntilMs }
      : { addresses: [], absence, freshUntilMs };
    // Old addresses are forgotten an hour after they were looked up, not after their last use.
    this.kept.set(name, kept, { noUpdateTTL: hasOldAddresses });
    return kept;
  }

  private keep(name: string, addresses: readonly LookupAddress[], freshMs: number): Kept {
    const kept = { addresses, freshUntilMs: this.nowMs() + freshMs };
    this.kept.set(name, kept);
    return kept;
  }
}

/** Without the dot that marks a name as fully qualified. */
const nameOf = (hostname: string): string => hostname.replace(/\.$/, '').toLowerCase();

/** Work for which several wait. It is stopped when the last of them has stopped waiting. */
class SharedWork<Result> {
  private readonly waiting: Waits<void> = new Set();
  private readonly stop = new AbortController();
  private readonly result: Promise<Result>;

  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    this.result = work(this.stop.signal);
    const wakeAll = () => {
      for (const wake of this.waiting) wake();
    };
    this.result.then(wakeAll, wakeAll);
  }

  /** No call waits for it any more: the next one has to begin anew. */
  get isLeft(): boolean {
    return this.waiting.size === 0;
  }

  /** Rejects as the work does, or with the signal's reason. */
  async wait(signal: AbortSignal): Promise<Result> {
    try {
      await waitIn(this.waiting, { signal });
      return await this.result;
    } finally {
      if (this.isLeft) this.stop.abort();
    }
  }
}

import { SETTINGS } from '#infrastructure';
import { Turns, waitIn, type Waits } from '#observability';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { LookupAddress } from 'node:dns';
import type { WorkerSettings } from '../settings.js';
import { HostsFile } from './hosts-file.js';
import { type Absence, type Answer, lookUp } from './look-up.js';

/** The workspace on whose behalf a name is resolved, and the signal that ends the wait. */
export interface ResolveTerms {
  workspaceId: string;
  signal: AbortSignal;
}

/** Thrown for a name without an address. The codes are those of `dns.lookup`. */
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

/** Maximum number of concurrent look-ups for one workspace. */
const maxOfWorkspace = 8;
/** How long to remember that a name has no address or that no server answered for it. */
const absentMs = 60_000;
/** Addresses are used for the TTL of their records, within these limits. */
const minFreshMs = 5_000;
const maxFreshMs = 60_000;
const maxKept = 10_000;
/** While no server answers for a name, its last known addresses are used for up to this long. */
const maxKeptMs = 3_600_000;
/** The longest name that DNS allows. */
const maxNameLength = 253;

interface Kept {
  addresses: readonly LookupAddress[];
  absence?: Absence;
  freshUntilMs: number;
}

/**
 * Resolves the host names in URLs from callers and from providers' replies. A name whose DNS servers do not
 * answer delays only its own workspace, a name that failed is not looked up again for a minute, and names
 * that the operator configured never wait for either. Names are treated as fully qualified: the search
 * domains of /etc/resolv.conf lead to private addresses, which are rejected anyway.
 */
@Injectable()
export class NameResolver {
  private readonly kept = new LRUCache<string, Kept>({ max: maxKept, ttl: maxKeptMs });
  private readonly lookUps = new Map<string, SharedWork<Kept>>();
  private readonly turns = new Turns({ maxOfOne: maxOfWorkspace });

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'CALLER_DNS_SERVERS'>,
    @Optional() private readonly hosts = new HostsFile(),
    @Optional() private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Rejects with `UnresolvedName`, even when the signal aborts. */
  async resolve(hostname: string, { workspaceId, signal }: ResolveTerms): Promise<readonly LookupAddress[]> {
    const name = nameOf(hostname);
    if (name.length > maxNameLength) throw new UnresolvedName(hostname, 'ENOTFOUND');
    const listed = await this.hosts.addressesOf(name);
    if (listed.length > 0) return this.keep(name, listed, minFreshMs).addresses;
    const { addresses, absence } = this.fresh(name) ?? (await this.join(name, workspaceId, signal));
    if (absence !== undefined) throw new UnresolvedName(hostname, absence);
    return addresses;
  }

  /** The addresses that `resolve` last found, without a new look-up. */
  known(hostname: string): readonly LookupAddress[] {
    return this.kept.get(nameOf(hostname))?.addresses ?? [];
  }

  /** Concurrent calls of a workspace for the same name share one look-up. */
  private async join(name: string, workspaceId: string, signal: AbortSignal): Promise<Kept> {
    const key = `${workspaceId} ${name}`;
    const begun = this.lookUps.get(key);
    const work =
      begun && !begun.isLeft ? begun : new SharedWork((left) => this.inTurn(name, workspaceId, left));
    this.lookUps.set(key, work);
    try {
      return await work.wait(signal);
    } catch (error) {
      throw new UnresolvedName(name, 'EAI_AGAIN', { cause: error });
    } finally {
      if (work.isLeft && this.lookUps.get(key) === work) this.lookUps.delete(key);
    }
  }

  private inTurn(name: string, workspaceId: string, signal: AbortSignal): Promise<Kept> {
    const work = async () => {
      // Another workspace may have looked it up in the meantime.
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
    // Old addresses expire an hour after their look-up, not after their last use.
    this.kept.set(name, kept, { noUpdateTTL: hasOldAddresses });
    return kept;
  }

  private keep(name: string, addresses: readonly LookupAddress[], freshMs: number): Kept {
    const kept = { addresses, freshUntilMs: this.nowMs() + freshMs };
    this.kept.set(name, kept);
    return kept;
  }
}

/** The lower-case name without the dot that marks it as fully qualified. */
const nameOf = (hostname: string): string => hostname.replace(/\.$/, '').toLowerCase();

/** Work that several callers wait for. It is aborted when the last of them stops waiting. */
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

  /** Whether it was aborted or has finished, so that no caller waits for it. */
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

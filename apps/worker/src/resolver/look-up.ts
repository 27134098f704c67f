import { settlesWithin, withTimeout } from '#observability';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** No address: the name has none, or no server said anything about it. The codes are those of `dns.lookup`. */
export type Absence = 'ENOTFOUND' | 'EAI_AGAIN';

export type Answer = { addresses: readonly LookupAddress[]; ttlSeconds: number } | { absence: Absence };

/** Two tries, the second of which waits twice as long. */
const firstTryMs = 1_500;
const tries = 2;
/** For all tries and servers together. */
const lookUpMs = 5_000;
/** Time that the addresses of one family give those of the other, which many servers never answer for. */
const otherFamilyMs = 300;

interface Found {
  addresses: LookupAddress[];
  ttlSeconds: number;
  code?: string;
}

/**
 * Asks the DNS servers for the addresses of a fully qualified name by c-ares, which uses sockets of its own: `dns.lookup`
 * would occupy one of the few threads that file access and the providers' names share for as long as a server is silent.
 * Rejects only with the signal's reason. `servers` replace those of /etc/resolv.conf.
 */
export function lookUp(name: string, servers: readonly string[], outer: AbortSignal): Promise<Answer> {
  return withTimeout(lookUpMs, outer, async (signal) => {
    signal.throwIfAborted();
    // One for each name: it reads /etc/resolv.conf anew, and cancelling it ends no other query.
    const resolver = new Resolver({ timeout: firstTryMs, tries });
    if (servers.length > 0) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const families = [
      found(resolver.resolve4(name, { ttl: true }), 4),
      found(resolver.resolve6(name, { ttl: true }), 6),
    ];
    const any = Promise.any(families.map(async (family) => (await family).addresses[0] ?? Promise.reject()));
    await any.then(
      () => settlesWithin(Promise.all(families), otherFamilyMs),
      () => {},
    );
    cancel();
    outer.throwIfAborted();
    return answerOf(await Promise.all(families));
  });
}

function found(asked: Promise<{ address: string; ttl: number }[]>, family: 4 | 6): Promise<Found> {
  return asked.then(
    (records) => ({
      addresses: records.map(({ address }) => ({ address, family })),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    }),
    (error: NodeJS.ErrnoException) => ({ addresses: [], ttlSeconds: Infinity, code: error.code ?? '' }),
  );
}

/** The codes with which c-ares says that there is no such name, or no such record of it. */
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME']);

function answerOf(families: readonly Found[]): Answer {
  const addresses = families.flatMap((family) => family.addresses);
  if (addresses.length > 0)
    return { addresses, ttlSeconds: Math.min(...families.map(({ ttlSeconds }) => ttlSeconds)) };
  const isAbsent = families.every(({ code = '' }) => absent.has(code));
  return { absence: isAbsent ? 'ENOTFOUND' : 'EAI_AGAIN' };
}

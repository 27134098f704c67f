import { settlesWithin, withTimeout } from '#observability';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** The name has no address, or no server answered for it. The codes are those of `dns.lookup`. */
export type Absence = 'ENOTFOUND' | 'EAI_AGAIN';

export type Answer = { addresses: readonly LookupAddress[]; ttlSeconds: number } | { absence: Absence };

/** Time limit of the first of two attempts. The second one waits twice as long. */
const firstTryMs = 1_500;
const tries = 2;
/** Time limit for all attempts and servers together. */
const lookUpMs = 5_000;
/** How long to wait for the second address family, for which many servers never answer, after the first. */
const otherFamilyMs = 300;

interface Found {
  addresses: LookupAddress[];
  ttlSeconds: number;
  code?: string;
}

/**
 * Looks up the addresses of a fully qualified name through c-ares, which uses its own sockets. `dns.lookup`
 * would block one of the few threads that it shares with file access and the providers' names until an
 * unresponsive server times out. Rejects only with the signal's reason. `servers` replaces those of
 * /etc/resolv.conf.
 */
export function lookUp(name: string, servers: readonly string[], outer: AbortSignal): Promise<Answer> {
  return withTimeout(lookUpMs, outer, async (signal) => {
    signal.throwIfAborted();
    // One resolver per name: a new one reads the current /etc/resolv.conf, and cancelling it ends only this
    // look-up.
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

function found(query: Promise<{ address: string; ttl: number }[]>, family: 4 | 6): Promise<Found> {
  return query.then(
    (records) => ({
      addresses: records.map(({ address }) => ({ address, family })),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    }),
    (error: NodeJS.ErrnoException) => ({ addresses: [], ttlSeconds: Infinity, code: error.code ?? '' }),
  );
}

/** The codes of c-ares for a name that does not exist or has no record of the requested type. */
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ENONAME']);

function answerOf(families: readonly Found[]): Answer {
  const addresses = families.flatMap((family) => family.addresses);
  if (addresses.length > 0)
    return { addresses, ttlSeconds: Math.min(...families.map(({ ttlSeconds }) => ttlSeconds)) };
  const isAbsent = families.every(({ code = '' }) => absent.has(code));
  return { absence: isAbsent ? 'ENOTFOUND' : 'EAI_AGAIN' };
}

import { connect } from 'node:net';

/** The addresses of servers by the setting that names them; several of one server are separated by commas. */
export type ServerUrls = Record<string, string | undefined>;

const withinMs = 3_000;
const usualPorts: Record<string, number> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
  'http:': 80,
  'https:': 443,
};

/**
 * A line for each server of which no address takes a connection, within three seconds. Whoever starts an app reads there
 * what its own retries would say much later, or only in a log.
 */
export async function unreachable(servers: ServerUrls): Promise<string[]> {
  const lines = await Promise.all(
    Object.entries(servers).map(async ([setting, urls]) => {
      const addresses = (urls ?? '').split(',').flatMap(addressOf);
      const problems = await Promise.all(addresses.map(problemOf));
      const isThere = problems.length === 0 || problems.includes(null);
      return isThere ? [] : [`${setting}: nothing answers at ${problems.join(', nor at ')}.`];
    }),
  );
  return lines.flat();
}

interface Address {
  host: string;
  port: number;
}

/** Empty for what is no address of a host, such as a socket's path. */
function addressOf(text: string): Address[] {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const port = Number(url?.port) || usualPorts[url?.protocol ?? ''];
  if (!url?.hostname || port === undefined) return [];
  return [{ host: url.hostname.replace(/^\[|\]$/g, ''), port }];
}

/** Null when the address takes a connection. */
function problemOf({ host, port }: Address): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: withinMs });
    const end = (reason: string | null) => {
      socket.destroy();
      resolve(reason && `${host}:${port} (${reason})`);
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer in ${withinMs / 1000} s`));
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => end(code ?? message));
  });
}

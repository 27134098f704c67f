import { connect } from 'node:net';

/** The URLs of servers by the setting that holds them, several of them separated by commas. */
type ServerUrls = Record<string, string | undefined>;

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
 * Returns a line for each server with no address that answers within three seconds. This tells the operator
 * at startup what the app's own retries would report much later, or only in the log.
 */
export async function unreachable(servers: ServerUrls): Promise<string[]> {
  const lines = await Promise.all(
    Object.entries(servers).map(async ([setting, urls]) => {
      const addresses = (urls ?? '').split(',').flatMap(addressOf);
      const problems = await Promise.all(addresses.map(problemOf));
      const isReachable = problems.length === 0 || problems.includes(null);
      return isReachable ? [] : [`${setting}: ${problems.join('; ')}.`];
    }),
  );
  return lines.flat();
}

interface Address {
  host: string;
  port: number;
  /** A request that the server answers at once. Absent under TLS, where a connection is enough. */
  greeting: Buffer | string | undefined;
}

/** Empty if the text does not name a host, for example for the path of a socket. */
function addressOf(text: string): Address[] {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const port = Number(url?.port) || usualPorts[url?.protocol ?? ''];
  if (!url?.hostname || port === undefined) return [];
  return [{ host: url.hostname.replace(/^\[|\]$/g, ''), port, greeting: greetingOf(url) }];
}

function greetingOf({ protocol, host, username, password }: URL): Buffer | string | undefined {
  switch (protocol) {
    case 'postgres:':
    case 'postgresql:':
      // SSLRequest: asks whether the server supports TLS.
      return Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
    case 'redis:': {
      const secrets = [username, password].filter((text) => text !== '').map(decodeURIComponent);
      return `${password === '' ? '' : command('AUTH', ...secrets)}${command('PING')}`;
    }
    case 'http:':
      return `HEAD / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    default:
      return undefined;
  }
}

const command = (...words: string[]): string =>
  [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n');

/** Null when the address answers. */
function problemOf({ host, port, greeting }: Address): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (problem: string | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(problem);
    };
    const silent = (reason: string) => end(`nothing answers at ${host}:${port} (${reason})`);
    const timer = setTimeout(() => silent(`no answer in ${withinMs / 1000} s`), withinMs);
    socket.once('connect', () => (greeting === undefined ? end(null) : socket.write(greeting)));
    socket.once('data', (reply: Buffer) => {
      const refusal = /^-(WRONGPASS|NOAUTH)\b/.exec(reply.toString('latin1'))?.[1];
      end(refusal === undefined ? null : `${host}:${port} rejects the password (${refusal})`);
    });
    socket.once('end', () => silent('it closed the connection'));
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => silent(code ?? message));
  });
}

import type { IncomingHttpHeaders } from 'node:http';

/** The bearer token of a request, empty when it has none. */
export const bearerOf = (headers: IncomingHttpHeaders): string =>
  /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';

/** Any bearer token will do. */
export const bearer = (headers: IncomingHttpHeaders): boolean => bearerOf(headers) !== '';

/** Any text in the header will do. */
export const keyIn =
  (name: string) =>
  (headers: IncomingHttpHeaders): boolean =>
    typeof headers[name] === 'string' && headers[name] !== '';

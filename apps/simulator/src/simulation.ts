import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from './clock.js';
import { phaseAt, type Generation } from './ledger/generation.js';
import type { Ledger } from './ledger/ledger.js';
import type { RequestLog } from './request-log.js';
import type { Provider, Protocol, View } from './provider.js';
import type { Replies } from './replies.js';
import type { Schemas } from './schemas.js';

/** `retryAfterSeconds` only with 429. */
export interface AccountAnswer {
  status: 401 | 402 | 429;
  retryAfterSeconds?: number | undefined;
}

/** The state that all routes share. `addresses` are set once both listeners are up. */
export interface Simulation {
  clock: Clock;
  ledger: Ledger;
  requests: RequestLog;
  /** How often each provider has received each body, by `provider/sha256`. */
  attempts: Map<string, number>;
  /** Uploaded files, by `provider/id`. */
  uploads: Map<string, { type: string; bytes: number }>;
  /** The answer to every call with a key of an account, by the account's name. */
  accounts: Map<string, AccountAnswer>;
  /** Header values that must be unique per call. */
  traceIds: Set<string>;
  defaultMs: number;
  addresses: { api: string; assets: string };
}

/** One protocol of a provider with its replies. */
export interface Side {
  simulation: Simulation;
  provider: Provider;
  protocol: Protocol;
  replies: Replies;
  schemas: Schemas;
}

export function viewOf(simulation: Simulation, provider: Provider, generation: Generation): View {
  return {
    generation,
    control: generation.control,
    phase: phaseAt(generation, simulation.clock.now()),
    api: `${simulation.addresses.api}/${provider.name}`,
    assets: `${simulation.addresses.assets}/${provider.name}`,
  };
}

const credentialHeaders = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-key',
  'api-key',
  'x-api-key',
  'xi-api-key',
  'x-goog-api-key',
  'x-magnific-api-key',
  'api_token',
  'apikey',
];

/** The credential of a request, as its header has it. */
const credentialOf = (headers: IncomingHttpHeaders): string =>
  credentialHeaders
    .map((name) => headers[name])
    .find((value) => typeof value === 'string')
    ?.toString() ?? '';

/** An account key that every provider rejects, as if it had been revoked. */
export const isRevokedKey = (headers: IncomingHttpHeaders): boolean =>
  /revoked-key/.test(credentialOf(headers));

/** An account key whose checks get no answer. */
export const isHangingKey = (headers: IncomingHttpHeaders): boolean =>
  /hanging-key/.test(credentialOf(headers));

/** The account of a key that names one, such as `sim-account-a`. Null for any other key, whose account is not checked. */
export const accountOf = (headers: IncomingHttpHeaders): string | null =>
  /sim-account-([a-z0-9]+)/.exec(credentialOf(headers))?.[1] ?? null;

/** Whether a request has a header that any provider uses for its key. */
export function carriesCredential(headers: IncomingHttpHeaders): boolean {
  return credentialHeaders.some((name) => headers[name] !== undefined);
}

const transportHeaders = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding']);

/** The headers for the ledger, without keys and connection headers. */
export function notableHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || transportHeaders.has(name) || credentialHeaders.includes(name)
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

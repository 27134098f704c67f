import type { Bucket } from '#errors';
import type { HeaderName } from './headers.js';
import type { ParameterName } from './parameters.js';
import type { ShapeName } from './shapes.js';

/** What the routes are grouped by, in the order of the reference. */
export const areas = {
  Catalog: 'What can be run, and what each model takes.',
  'Synchronous runs': 'The connection is held until the result is there.',
  'Queued runs': 'The run is admitted at once; its state is polled, its result collected.',
  Registry: 'The nodes that are published; nobody has to identify for them.',
  Service: 'This reference and the probes; nobody has to identify for them.',
} as const satisfies Record<string, string>;

export type Area = keyof typeof areas;

/** Who may call: holders of an access token; of a key or a token; anybody. */
export type Credentials = 'access_token' | 'key_or_token' | 'none';

export interface Answer {
  status: number;
  description: string;
  /** Media types with their shapes; null for bytes that have none. Empty for an answer without a body. */
  content: Readonly<Record<string, ShapeName | null>>;
  headers: readonly HeaderName[];
  /** The buckets that a failure of this status can name. */
  buckets: readonly Bucket[];
}

/** One route of the service: the row that its documentation is made from. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT';
  path: `/${string}`;
  /** Unique; names the operation in generated clients. */
  name: string;
  area: Area;
  summary: string;
  description: string;
  credentials: Credentials;
  parameters: readonly ParameterName[];
  input: ShapeName | null;
  answers: readonly Answer[];
}

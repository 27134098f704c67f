/** Why a call failed. The router's documentation has a page on each. */
export const bucketNames = [
  'invalid_input',
  'content_policy_violation',
  'provider_error',
  'provider_timeout',
  'insufficient_credits',
  'model_not_found',
  'unauthorized',
  'forbidden',
  'concurrency_limit_exceeded',
  'client_disconnected',
  'internal_error',
  'deadline_exceeded',
  'not_enabled',
  'service_unavailable',
  'rate_limited',
] as const;

export type Bucket = (typeof bucketNames)[number];

/** An input field that the model rejected. */
export interface FieldError {
  /** `['body', 'image', 0]` is the first element of `image`. */
  loc: (string | number)[];
  msg: string;
  type: string;
  ctx?: Record<string, unknown>;
  input?: unknown;
}

/**
 * Fields of the input that the model does not know and that look like typos, with the names that were probably meant:
 * `{ hieght: 'height' }`. A model that takes unknown fields gets them all the same.
 */
export type UnknownFields = Readonly<Record<string, string>>;

interface RouterErrorFacts {
  status?: number;
  fields?: FieldError[];
  unknownFields?: UnknownFields;
  callId?: string;
  runId?: string;
  retryAfterMs?: number;
  committedSpendCents?: CommittedSpend;
  idempotencyKey?: string | undefined;
  cause?: unknown;
}

/** The maximum cost of all runs in flight, without the rejected one, and its limit. */
interface CommittedSpend {
  limit: number;
  current: number;
}

/** A failed call. `bucket` says what to do about it; `message` is safe to show to people. */
export class RouterError extends Error {
  override readonly name = 'RouterError';
  /** The HTTP status; 0 if there was no response, because of the network or the call's time limit. */
  readonly status: number;
  /** The input fields that the model rejected; empty unless the status is 422. */
  readonly fields: FieldError[];
  readonly unknownFields: UnknownFields;
  /** Identifies the HTTP call in the router's records. */
  readonly callId: string | undefined;
  /** The run that the call belongs to, if there is one. Send it to the operator to find out what happened. */
  readonly runId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Set only if this limit rejected the run. */
  readonly committedSpendCents: CommittedSpend | undefined;
  /** The run's key. Repeating the request with this key collects the run instead of starting another one. */
  readonly idempotencyKey: string | undefined;

  constructor(
    readonly bucket: Bucket,
    message: string,
    facts: RouterErrorFacts = {},
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status ?? 0;
    this.fields = facts.fields ?? [];
    this.unknownFields = facts.unknownFields ?? {};
    this.callId = facts.callId;
    this.runId = facts.runId;
    this.retryAfterMs = facts.retryAfterMs;
    this.committedSpendCents = facts.committedSpendCents;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** The ids in a response's headers. */
export function idsOf(headers: Headers): { callId?: string; runId?: string } {
  const callId = headers.get('x-service-request-id');
  const runId = headers.get('x-service-run-id');
  return { ...(callId !== null && { callId }), ...(runId !== null && { runId }) };
}

/** The header reads `hieght (height?), widht (width?)`. */
export function unknownFieldsOf(headers: Headers): UnknownFields {
  const given = headers.get('x-service-unknown-fields')?.split(', ') ?? [];
  return Object.fromEntries(
    given.map((each) => {
      const [name = '', suggestion = ''] = each.split(' ');
      return [name, suggestion.slice(1, -2)];
    }),
  );
}

/** The router's own error, which ends a stream of events whose run failed. A provider's error is not one. */
export function failureIn(
  { event, data }: { event: string; data: string },
  facts: RouterErrorFacts,
): RouterError | undefined {
  if (event !== 'error') return undefined;
  try {
    const { error_type, detail } = JSON.parse(data) as Record<string, unknown>;
    const bucket = bucketNames.find((each) => each === error_type);
    return bucket && typeof detail === 'string' ? new RouterError(bucket, detail, facts) : undefined;
  } catch {
    return undefined;
  }
}

/** Builds the error for a failed response. */
export function errorOf(
  status: number,
  headers: Headers,
  body: unknown,
  idempotencyKey: string | undefined,
): RouterError {
  const named = headers.get('x-service-error-type');
  const { detail } = (body ?? {}) as { detail?: unknown };
  const fields = Array.isArray(detail) ? (detail as FieldError[]) : [];
  const text = typeof detail === 'string' ? detail : `The router returned HTTP ${status}.`;
  const message = fields.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ') || text;
  const number = (name: string) => {
    const value = Number.parseInt(headers.get(name) ?? '', 10);
    return Number.isNaN(value) ? undefined : value;
  };
  const retryAfter = headers.get('retry-after')?.trim() ?? '';
  const limit = number('x-committed-spend-limit');
  const current = number('x-committed-spend-current');
  return new RouterError(bucketNames.find((each) => each === named) ?? 'internal_error', message, {
    status,
    fields,
    unknownFields: unknownFieldsOf(headers),
    idempotencyKey,
    ...idsOf(headers),
    ...(/^\d+$/.test(retryAfter) && { retryAfterMs: Number(retryAfter) * 1000 }),
    ...(limit !== undefined && current !== undefined && { committedSpendCents: { limit, current } }),
  });
}

import type { Bucket, ErrorReply, FieldError } from '#errors';
import type { Attribution, ReportedTerm, WebhookForm } from '#schemas';

export type { Stage } from '#schemas';

/**
 * The basis of a billed amount: the provider's reply, the price of this input, a price independent of the input, or the
 * workspace's fee for a run with its own provider key.
 */
export type Basis = 'reported' | 'computed' | 'flat' | 'own_key';

/** Joins the outbox row of a run by its full key. `run` has `id` and `workspace_id`. */
export const outboxRowOf = (run: string): string =>
  `outbox.workspace_id = ${run}.workspace_id AND outbox.run_id = ${run}.id`;

/** When a run moved from one stage to the next. */
export const runTimes = `admitted_at AS "admittedAt", granted_at AS "grantedAt", dispatched_at AS "dispatchedAt",
  output_at AS "outputAt", completed_at AS "completedAt"`;

/** Whether the simulator serves a run, from the run's facts. */
export const isSimulated = `coalesce((facts ->> 'simulated')::boolean, false)`;

/** The key that admitted a run. Null for an access token. */
export const keyId = `CASE WHEN credential LIKE 'key:%' THEN substr(credential, 5) END AS "keyId"`;

/**
 * The facts of the model, resolved at admission. They are all that the run needs, so the catalog is not read again.
 */
export interface RunFacts {
  upstream: Record<string, string>;
  assets: string[];
  chargesOnPolicyRejection: 'yes' | 'no' | 'unknown';
  budgetMs: number;
  /**
   * How long the run waits for a provider that does not accept it, if its caller has less patience than the time budget.
   * Such a caller also reads the provider's errors in its own way.
   */
  patienceMs?: number;
  /** The basis of the amount that is billed unless the reply has all terms of `reported`. */
  basis: 'computed' | 'flat';
  reported: ReportedTerm[];
  /** The input asks for one answer and sets no limit on it. Absent otherwise. */
  isOpen?: true;
  /** The price of the server's row. Absent for runs that an earlier release admitted. */
  price?: PriceFacts;
  /** Present if the caller wants the provider's events as they arrive. */
  streams?: StreamFacts;
  /** Members of the body that name the model and that the caller left out. */
  members?: Record<string, string | number | boolean>;
  /** Headers of the caller that are a part of the input. */
  headers?: Readonly<Record<string, string>>;
  /** The id of the call that admitted the run. Absent for runs that an earlier release admitted. */
  callId?: string;
  /** The W3C trace context of the call that admitted the run, if it is traced. */
  traceparent?: string;
  /** The provider that serves the run, by its public name. Only if the model has several. */
  server?: string;
  /**
   * The version of its workspace's own key of the provider that the run uses. Absent for a run with an operator's key.
   */
  ownKey?: string;
  /** The simulator serves the run. Absent for a provider. */
  simulated?: true;
  /** The run costs nothing, is in no list and has no record. */
  unlisted?: true;
  /** The next provider, and its facts, if this one provably rejects the run. */
  fallback?: { provider: string; computedMicros: number; facts: RunFacts };
}

/** The row of a price, the digest of the price, and the factor by which its bound was multiplied, if it was. */
interface PriceFacts {
  row: string;
  digest: string;
  lift?: number;
}

/** One call of a webhook's URL. */
export interface WebhookAttempt {
  /** When it began. */
  at: string;
  durationMs: number;
  /** The HTTP status. Absent if there was no answer. */
  status?: number;
  /** Why it failed. Absent if the receiver accepted it. */
  problem?: string;
  /** The beginning of the response's body, as text. Absent if it was empty. */
  response?: string;
}

/** An event that a workspace requested to test its receiver. It has one attempt. */
export interface WebhookTest {
  test: true;
}

export const isTest = (event: BudgetThreshold | WebhookTest | null): event is WebhookTest =>
  event !== null && 'test' in event;

/** A share of a budget's limit that was spent in a window. Amounts are micro-dollars. */
export interface BudgetThreshold {
  budget: string;
  /** In percent. */
  threshold: 50 | 80 | 100;
  scope: string;
  /** The counted value of the scope. Empty for a scope without values. */
  value: string;
  window: 'day' | 'week' | 'month' | 'total';
  hard: boolean;
  limitMicros: number;
  spentMicros: number;
  reservedMicros: number;
  /** Null for a total. */
  startsAt: string | null;
  endsAt: string | null;
}

/** Prices that are billed if a stream ends before its provider reports the usage. Amounts are micro-dollars. */
export interface StreamFacts {
  /** The computed price of the input alone. */
  inputMicros: number;
  /** The computed price of one token of output, which may be a fraction. */
  tokenMicros: number;
  /** How many tokens the model writes in a second. Absent if its stream shows all of them. */
  hiddenTokensPerSecond?: number;
  /**
   * The price of the tokens that a call of a tool at the provider likely adds, and the places and fees of the calls in
   * events. Absent without such a tool.
   */
  tools?: { inputMicros: number; calls: ReportedTerm[] };
  /** Whether a caller waits for the events. Otherwise they are collected only. */
  isLive: boolean;
}

/**
 * The HTTP call that admitted a run. Its URLs are built from `origin`, so that a repeated answer is byte-identical.
 */
export interface AdmittingCall {
  requestId: string;
  route: string;
  origin: string;
  idempotencyKey?: string;
  webhook?: WebhookAddress;
  /** Absent for a run without tags and without an end user. */
  attribution?: Attribution;
}

/** The webhook URL of a run, and the format of the call. */
export interface WebhookAddress {
  url: string;
  /** The origin of the URL. */
  receiver: string;
  form: WebhookForm;
}

/** The input or output of a run: its bytes, or, if large, the key of the object in the asset store. */
export type PayloadBody = Uint8Array | { storedAs: string };

/** The values of the columns `body` and `stored_as` of a payload. */
export function payloadColumns(body: PayloadBody): [body: Buffer | null, storedAs: string | null] {
  return 'storedAs' in body
    ? [null, body.storedAs]
    : [Buffer.from(body.buffer, body.byteOffset, body.byteLength), null];
}

export interface PayloadRow {
  body: Buffer | null;
  storedAs: string | null;
}

export type OutputRow = PayloadRow & { mediaType: string | null };

/** The body in the columns. Empty for a row without a payload. */
export const payloadBody = ({ body, storedAs }: PayloadRow): PayloadBody =>
  storedAs === null ? (body ?? Buffer.alloc(0)) : { storedAs };

/** The output of a run, from the columns of its payload. Null if it has none. */
export const outputOf = (row: OutputRow): { mediaType: string; body: PayloadBody } | null =>
  row.mediaType === null ? null : { mediaType: row.mediaType, body: payloadBody(row) };

/** How a run ended: all facts that later answers about it need. */
export type Ending =
  | {
      outcome: 'succeeded';
      mediaType: string;
      body: PayloadBody;
      /** The keys of the copied assets, and the expiry of their URLs in the body. */
      copies?: { keys: string[]; openUntilMs: number };
      /** Whether the body contains the provider's own asset URLs. */
      providerUrls?: boolean;
    }
  | {
      outcome: 'failed';
      bucket: Bucket;
      status: number;
      detail: string;
      fields?: FieldError[];
      reply?: ErrorReply | undefined;
      billable: boolean;
    }
  /** `billable`: the provider was stopped in the middle of an event stream. */
  | { outcome: 'cancelled'; billable?: boolean };

/** The known costs of a run, in micro-dollars. */
export interface Used {
  /** According to the last reply. */
  reportedMicros?: number | undefined;
  /** The price of an event stream without a final report, by what is known of it; 0 for a result without files. */
  arrivedMicros?: number | undefined;
  /** Only of a text run whose reply reports it. */
  written?: Written | undefined;
}

/** The answer of a text run, as its provider reports it. */
export interface Written {
  /** All tokens of its answer, seen or not. */
  tokens: number;
  /** The time of the provider's call. */
  ms: number;
  /** The input asked for one answer and set no limit on it. */
  isOpen?: true | undefined;
}

export type Outcome = Ending['outcome'];

/** The facts of a finished run for log and metrics. Phases that it never reached are absent. */
export interface FinishedRun {
  workspaceId: string;
  provider: string;
  model: string;
  delivery: 'queued' | 'sync';
  outcome: Outcome;
  bucket: Bucket | null;
  billedMicros: number;
  /** The server that ran it, if the model has several. */
  server: string | null;
  /** Null if nothing is billed. */
  basis: Basis | null;
  reservedMicros: number;
  /** How much more than the maximum the provider reported, with the markup. Null for nothing. */
  overshootMicros: number | null;
  /** The part of it that the operator pays: nothing if the workspace pays the provider, or the simulator served the run. */
  lostMicros: number | null;
  /** The cost reported by the provider, with the markup. */
  reportedMicros: number | null;
  traceparent: string | null;
  /** The id of the HTTP call that admitted the run. */
  callId: string;
  phasesMs: { queue?: number; dispatch?: number; provider?: number; assets?: number };
}

/** A run that became due: it was granted a slot, or its webhook became due. */
export interface Granted {
  runId: string;
  provider: string;
  /** Absent for `dispatch`. */
  queue?: 'webhooks';
}

/** The JSON of an ending, without the bytes of its body. */
export function endingRow(ending: Ending, { reportedMicros, arrivedMicros, written }: Used = {}): string {
  switch (ending.outcome) {
    case 'succeeded':
      return jsonText({
        outcome: 'succeeded',
        status: 200,
        mediaType: ending.mediaType,
        ...('storedAs' in ending.body && ending.body),
        ...(ending.copies && {
          assets: ending.copies.keys,
          linkExpiresAt: new Date(ending.copies.openUntilMs).toISOString(),
        }),
        providerUrls: ending.providerUrls ?? false,
        billable: true,
        reportedMicros,
        arrivedMicros,
        written,
      });
    case 'failed': {
      const { outcome, bucket, status, billable } = ending;
      return jsonText({
        outcome,
        bucket,
        status,
        failure: failureRow(ending),
        billable,
        reportedMicros,
        arrivedMicros,
      });
    }
    case 'cancelled':
      // In the closed set of buckets, this one stands for a cancelled run.
      return jsonText({
        outcome: 'cancelled',
        bucket: 'client_disconnected',
        status: 409,
        billable: ending.billable ?? false,
        reportedMicros,
        arrivedMicros,
      });
  }
}

/** Why a run failed. `fields` is present for a 422, `reply` if its caller reads the provider's errors. */
export interface RunFailure {
  detail: string;
  fields?: FieldError[];
  reply?: ErrorReply | undefined;
}

/** A failure as stored. `jsonb` reorders members, so the fields are also stored as JSON text. */
export interface FailureRow extends RunFailure {
  /** Absent in rows of earlier releases. Those releases read `fields`. */
  fieldsText?: string;
}

const failureRow = ({ detail, fields, reply }: RunFailure): FailureRow => ({
  detail,
  ...(reply && { reply }),
  ...(fields && { fields, fieldsText: jsonText(fields) }),
});

/** The failure, with the members of its fields in their original order. */
export function failureOf(row: FailureRow | null): RunFailure | null {
  if (row?.fieldsText === undefined) return row;
  const { fieldsText, ...failure } = row;
  return { ...failure, fields: JSON.parse(fieldsText) as FieldError[] };
}

/**
 * The JSON of a value in a form that `jsonb` always accepts: NUL and lone surrogates, which `JSON.stringify`
 * escapes, become U+FFFD in values and names.
 */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (escape) =>
    escape.length > 2 ? '\uFFFD' : escape,
  );

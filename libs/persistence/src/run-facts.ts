import type { Bucket, FieldError } from '#errors';
import type { ReportedTerm } from '#schemas';

export type { Stage } from '#schemas';

/** How a billed amount was found: the provider's reply, the price of this input, or a price that no input changes. */
export type Basis = 'reported' | 'computed' | 'flat';

/** Finds the outbox row of a run by the whole of its key. `run` has `id` and `workspace_id`. */
export const outboxRowOf = (run: string): string =>
  `outbox.workspace_id = ${run}.workspace_id AND outbox.run_id = ${run}.id`;

/** When a run came from one stage to the next, by the names of the interface. */
export const runTimes = `admitted_at AS "admittedAt", granted_at AS "grantedAt", dispatched_at AS "dispatchedAt",
  output_at AS "outputAt", completed_at AS "completedAt"`;

/** The key that admitted a run; null for an access token. */
export const keyId = `CASE WHEN credential LIKE 'key:%' THEN substr(credential, 5) END AS "keyId"`;

/** A model's facts as resolved at admission. Everything the run needs later; the catalog is not read again. */
export interface RunFacts {
  upstream: Record<string, string>;
  assets: string[];
  chargesOnPolicyRejection: 'yes' | 'no' | 'unknown';
  budgetMs: number;
  /** The basis of the amount that is billed unless a reply has all of `reported`. */
  basis: 'computed' | 'flat';
  reported: ReportedTerm[];
  /** Members that name the model in the body and that the caller left out. */
  members?: Record<string, string | number | boolean>;
  /** W3C context of the call that admitted the run, when that is traced. */
  traceparent?: string;
  /** The provider that serves it, by the name that callers know, where several could. */
  server?: string;
  /** The provider that serves it instead when the first provably did not take it, and the facts for that. */
  fallback?: { provider: string; computedMicros: number; facts: RunFacts };
}

/** The HTTP call that admitted a run. `origin` builds its URLs, so that a repeated answer is the same to the byte. */
export interface AdmittingCall {
  requestId: string;
  route: string;
  origin: string;
  idempotencyKey?: string;
  webhook?: WebhookAddress;
}

/** The address that is called when the run is completed, and the form of the call. */
export interface WebhookAddress {
  url: string;
  /** The origin of the URL. */
  receiver: string;
  form: 'standard' | 'fal';
}

/** Bytes of a run: themselves when they are few, else the key of the object in the asset store. */
export type PayloadBody = Uint8Array | { storedAs: string };

/** The columns `body` and `stored_as` of a payload. */
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

/** The body that the columns hold; no bytes for a row without a payload. */
export const payloadBody = ({ body, storedAs }: PayloadRow): PayloadBody =>
  storedAs === null ? (body ?? Buffer.alloc(0)) : { storedAs };

/** The output of a run, from the columns of its payload; null for a run without one. */
export const outputOf = (row: OutputRow): { mediaType: string; body: PayloadBody } | null =>
  row.mediaType === null ? null : { mediaType: row.mediaType, body: payloadBody(row) };

/** How a run ended, as every later answer about it is composed. */
export type Ending =
  | {
      outcome: 'succeeded';
      mediaType: string;
      body: PayloadBody;
      /** Copied assets, and until when the URLs open them that the body holds. */
      copies?: { keys: string[]; openUntilMs: number };
      /** Whether the body holds asset URLs of the provider's own. */
      providerUrls?: boolean;
    }
  | {
      outcome: 'failed';
      bucket: Bucket;
      status: number;
      detail: string;
      fields?: FieldError[];
      billable: boolean;
    }
  | { outcome: 'cancelled' };

export type Outcome = Ending['outcome'];

/** A finished run as log and metrics speak of it. A phase that it never reached is absent. */
export interface FinishedRun {
  workspaceId: string;
  provider: string;
  model: string;
  delivery: 'queued' | 'sync';
  outcome: Outcome;
  bucket: Bucket | null;
  billedMicros: number;
  /** The server that the caller picked or was given, where the model has several. */
  server: string | null;
  /** Null when nothing is billed. */
  basis: Basis | null;
  reservedMicros: number;
  /** The provider's own price, with the mark-up. */
  reportedMicros: number | null;
  traceparent: string | null;
  phasesMs: { queue?: number; dispatch?: number; provider?: number; assets?: number };
}

/** A run that a change made due: another run's end granted it a slot, or its own made its webhook due. */
export interface Granted {
  runId: string;
  provider: string;
  /** Absent: `dispatch`. */
  queue?: 'webhooks';
}

/** The row form of an ending, without the bytes of its body; `reportedMicros` is what its last reply said that it cost. */
export function endingRow(ending: Ending, reportedMicros?: number): string {
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
      });
    case 'failed': {
      const { outcome, bucket, status, billable } = ending;
      return jsonText({ outcome, bucket, status, failure: failureRow(ending), billable, reportedMicros });
    }
    case 'cancelled':
      // This bucket of the closed set says "the caller withdrew".
      return jsonText({
        outcome: 'cancelled',
        bucket: 'client_disconnected',
        status: 409,
        billable: false,
      });
  }
}

/** Why a run failed. `fields` is present for a 422. */
export interface RunFailure {
  detail: string;
  fields?: FieldError[];
}

/** A failure in its row. `jsonb` changes the order of members, so the fields are also there as the text of their JSON. */
export interface FailureRow extends RunFailure {
  /** Absent in rows that earlier releases wrote; these releases read `fields`. */
  fieldsText?: string;
}

const failureRow = ({ detail, fields }: RunFailure): FailureRow => ({
  detail,
  ...(fields && { fields, fieldsText: jsonText(fields) }),
});

/** The failure with its members in the order in which they were written. */
export function failureOf(row: FailureRow | null): RunFailure | null {
  if (row?.fieldsText === undefined) return row;
  return { detail: row.detail, fields: JSON.parse(row.fieldsText) as FieldError[] };
}

/**
 * The JSON of a value, fit for `jsonb` whatever a provider wrote: NUL and lone surrogates, in values and in names, become
 * U+FFFD. `JSON.stringify` escapes both.
 */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(/\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g, (escape) =>
    escape.length > 2 ? '\uFFFD' : escape,
  );

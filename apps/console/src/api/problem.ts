import { texts } from '../texts/index.ts';

export interface FieldProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A failed call, with the API's own message. */
export class Problem extends Error {
  readonly status: number;
  /** One of the fifteen buckets; undefined if the service couldn't be reached. */
  readonly bucket: string | undefined;
  readonly callId: string | undefined;
  /** The run that the call belongs to. */
  readonly runId: string | undefined;
  readonly fields: FieldProblem[];
  readonly unknownFields: UnknownField[];

  constructor(facts: {
    status: number;
    detail: string;
    bucket?: string | undefined;
    callId?: string | undefined;
    runId?: string | undefined;
    fields?: FieldProblem[];
    unknownFields?: UnknownField[];
  }) {
    super(facts.detail);
    this.status = facts.status;
    this.bucket = facts.bucket;
    this.callId = facts.callId;
    this.runId = facts.runId;
    this.fields = facts.fields ?? [];
    this.unknownFields = facts.unknownFields ?? [];
  }
}

/** Reads the body of a failed response, whatever its shape. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined);
  const { detail, message, error_type } = (body ?? {}) as {
    detail?: FieldProblem[] | string;
    message?: string;
    error_type?: string;
  };
  const fields = Array.isArray(detail) ? detail : [];
  return new Problem({
    status: response.status,
    detail: Array.isArray(detail) ? texts.failure.fields : (detail ?? message ?? texts.failure.noBody),
    bucket: response.headers.get('x-service-error-type') ?? error_type,
    callId: response.headers.get('x-service-request-id') ?? undefined,
    runId: response.headers.get('x-service-run-id') ?? undefined,
    fields,
    unknownFields: unknownFieldsOf(response),
  });
}

/** A field that is most likely a typo, and the one that was meant. */
export interface UnknownField {
  name: string;
  suggestion: string;
}

/** Reads `hieght (height?), widht (width?)`. */
export const unknownFieldsOf = ({ headers }: Pick<Response, 'headers'>): UnknownField[] =>
  [...(headers.get('x-service-unknown-fields') ?? '').matchAll(/([\w.-]+) \(([\w.-]+)\?\)/g)].map(
    ([, name = '', suggestion = '']) => ({ name, suggestion }),
  );

/** Nothing with that ID exists, or this caller can't see it. */
export const isMissing = (error: unknown): error is Problem =>
  error instanceof Problem && error.status === 404;

/** The service has answered that it didn't do what was asked. After any other failure it may have done it. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Problem && error.status >= 400 && error.status < 500;

/** It was there once. */
export const hasExpired = (error: unknown): boolean => error instanceof Problem && error.status === 410;

export const unreachable = (): Problem => new Problem({ status: 0, detail: texts.failure.unreachable });

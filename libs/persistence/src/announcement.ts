import { endingRow, type Ending, type FailureRow, failureOf, type FinishedRun } from './run-facts.js';
import type { RunResult } from './run-reader.js';

/** The outcome of a run, as its caller sees it. */
export type RunOutcome = Pick<
  RunResult,
  'outcome' | 'bucket' | 'status' | 'failure' | 'output' | 'providerUrls' | 'billedMicros' | 'server'
>;

/** A larger output, or one in the asset store, is read from its row: signals never carry object keys. */
const maxBytes = 64 * 1024;

/**
 * The outcome of a run that was just written, for a gateway that holds its caller's connection: JSON, a line
 * feed, then the bytes of the output. Undefined if the output is too large or in the asset store.
 */
export function announcement(ending: Ending, { billedMicros, server }: FinishedRun): Buffer | undefined {
  const body = 'body' in ending ? ending.body : undefined;
  if (body && ('storedAs' in body || body.byteLength > maxBytes)) return undefined;
  const head = `{"billedMicros":${billedMicros},"server":${JSON.stringify(server)},${endingRow(ending).slice(1)}\n`;
  return Buffer.concat([Buffer.from(head), body ?? new Uint8Array()]);
}

/** Parses the result of `announcement`. */
export function announcedOutcome(signal: Buffer): RunOutcome {
  const end = signal.indexOf('\n');
  const { outcome, bucket, status, failure, mediaType, providerUrls, billedMicros, server } = JSON.parse(
    signal.toString('utf8', 0, end),
  ) as Omit<RunOutcome, 'output' | 'failure'> & { failure?: FailureRow; mediaType: string };
  const body = signal.subarray(end + 1);
  return {
    outcome,
    bucket: bucket ?? null,
    status,
    failure: failureOf(failure ?? null),
    output: outcome === 'succeeded' ? { mediaType, body } : null,
    providerUrls: providerUrls ?? false,
    billedMicros,
    server,
  };
}

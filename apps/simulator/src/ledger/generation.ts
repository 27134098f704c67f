import { amount, type Control } from '../control.js';

/** A submission that a provider accepted. Times are in milliseconds since the epoch, by the simulator's clock. */
export interface Generation {
  provider: string;
  id: string;
  /** The model by the provider's own name; may be a path of several segments. */
  model: string;
  path: string;
  /** Position among all accepted submissions, from 1. */
  order: number;
  atMs: number;
  tag: string | null;
  /** The account whose key submitted it; null if the key names none. */
  account: string | null;
  prompt: string;
  /** The bytes as received. */
  body: Buffer;
  bodySha256: string;
  headers: Record<string, string>;
  /** How often this provider has received the same body, including this time and rejections. */
  attempt: number;
  tokens: string[];
  control: Control;
  queuedMs: number;
  takesMs: number;
  cancelAskedAtMs: number | null;
  canceledAtMs: number | null;
  pollCount: number;
  resultCount: number;
  assetCount: number;
  /** When the caller closed the connection of a stream before its end; null if it did not. */
  abortedAtMs: number | null;
  /** The tokens of a stream so far, which the provider charges. Null for other replies. */
  used: { read: number; written: number } | null;
  /** Digest of the latest reply after the generation ended; null until then. */
  replySha256: string | null;
}

export type Phase = 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';

/** Why the generation fails; null if it succeeds. */
export function failureOf(control: Control): 'policy_submit' | 'policy_output' | 'job_failed' | null {
  for (const name of ['policy_submit', 'policy_output', 'job_failed'] as const)
    if (control.has(name)) return name;
  return null;
}

/** When the generation stops occupying the provider. */
export function endOf(generation: Generation): number {
  return generation.canceledAtMs ?? generation.atMs + generation.queuedMs + generation.takesMs;
}

/** Ends the generation at `nowMs`, unless it has ended already. */
export function endNow(generation: Generation, nowMs: number): void {
  if (endOf(generation) <= nowMs) return;
  generation.queuedMs = Math.min(generation.queuedMs, nowMs - generation.atMs);
  generation.takesMs = nowMs - generation.atMs - generation.queuedMs;
}

/** Computes the phase from the clock; generations have no timers. */
export function phaseAt(generation: Generation, nowMs: number): Phase {
  if (generation.canceledAtMs !== null) return 'canceled';
  if (nowMs < generation.atMs + generation.queuedMs) return 'queued';
  if (nowMs < endOf(generation)) return 'running';
  return failureOf(generation.control) === null ? 'succeeded' : 'failed';
}

export function durations(control: Control, defaultMs: number): { queuedMs: number; takesMs: number } {
  if (control.has('policy_submit')) return { queuedMs: 0, takesMs: 0 };
  return {
    queuedMs: amount(control, 'queued', 0),
    takesMs: amount(control, 'takes', defaultMs),
  };
}

/** The generation as the ledger route returns it: the body as base64, and the state at `nowMs`. */
export function entryOf(generation: Generation, nowMs: number) {
  const { body, control: _control, ...facts } = generation;
  return {
    ...facts,
    bodyBase64: body.toString('base64'),
    state: phaseAt(generation, nowMs),
    endsAtMs: endOf(generation),
  };
}

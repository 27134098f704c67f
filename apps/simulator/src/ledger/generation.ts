import { amount, type Control } from '../control.js';

/** One submission that a provider accepted. Times are milliseconds of the simulator's clock since the epoch. */
export interface Generation {
  provider: string;
  id: string;
  /** The part of the provider's address that names a model, or a path of several segments. */
  model: string;
  path: string;
  /** Position among all accepted submissions, from 1. */
  order: number;
  atMs: number;
  tag: string | null;
  prompt: string;
  /** The provider's own bytes as received. */
  body: Buffer;
  bodySha256: string;
  headers: Record<string, string>;
  /** How often this provider has seen this very body, this time included and refusals counted. */
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
  /** Digest of the bytes last said about it once it had ended; null before. */
  replySha256: string | null;
}

export type Phase = 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';

/** Why a generation does not succeed; null when it does. */
export function failureOf(control: Control): 'policy_submit' | 'policy_output' | 'job_failed' | null {
  for (const name of ['policy_submit', 'policy_output', 'job_failed'] as const)
    if (control.has(name)) return name;
  return null;
}

/** The instant from which the generation occupies the provider no longer. */
export function endOf(generation: Generation): number {
  return generation.canceledAtMs ?? generation.atMs + generation.queuedMs + generation.takesMs;
}

/** Ends it at this instant, unless it has ended. */
export function endNow(generation: Generation, nowMs: number): void {
  if (endOf(generation) <= nowMs) return;
  generation.queuedMs = Math.min(generation.queuedMs, nowMs - generation.atMs);
  generation.takesMs = nowMs - generation.atMs - generation.queuedMs;
}

/** No timer belongs to a generation: what it is doing follows from the clock. */
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

/** The ledger's line for readers: raw bytes as base64, the state as of `nowMs`. */
export function entryOf(generation: Generation, nowMs: number) {
  const { body, control: _control, ...facts } = generation;
  return {
    ...facts,
    bodyBase64: body.toString('base64'),
    state: phaseAt(generation, nowMs),
    endsAtMs: endOf(generation),
  };
}

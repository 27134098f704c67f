import { numberLiteral, Verbatim } from '../../json-text.js';
import { failureOf } from '../../ledger/generation.js';
import type { View } from '../../partner.js';

const nothing = { result: null, progress: null, details: null, preview: null };

/** The poll body without its id. A moderated or failed task is a 200 like any other. */
export function progressOf(view: View, sample: string): object {
  const { phase, control } = view;
  if (phase === 'queued') return { status: 'Pending', ...nothing };
  if (phase === 'running')
    return control.has('unknown_status')
      ? { status: 'Generating', ...nothing, progress: 0.4 }
      : { status: 'Pending', ...nothing };
  switch (failureOf(control)) {
    case 'policy_submit':
      return moderated('Request Moderated', 'Derivative Works Filter');
    case 'policy_output':
      return moderated('Content Moderated', 'Safety Filter');
    case 'field_output':
    case 'job_failed':
      return { status: 'Error', ...nothing, details: { error: 'The task failed on worker 17.' } };
    case null:
      return ready(view, sample);
  }
}

function moderated(status: string, reason: string): object {
  return { status, ...nothing, details: { 'Moderation Reasons': [reason] } };
}

function ready({ generation, control }: View, sample: string): object {
  const startMs = generation.atMs + generation.queuedMs;
  const result = {
    ...(control.has('no_asset') ? {} : { sample }),
    prompt: generation.prompt,
    seed: new Verbatim(numberLiteral(generation.body.toString(), 'seed') ?? seedOf(generation.bodySha256)),
    start_time: startMs / 1000,
    end_time: (startMs + generation.takesMs) / 1000,
    duration: generation.takesMs / 1000,
  };
  return { status: 'Ready', ...nothing, result };
}

function seedOf(sha256: string): string {
  return String(Number.parseInt(sha256.slice(0, 8), 16));
}

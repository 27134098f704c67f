import { failureOf } from './ledger/generation.js';
import type { View } from './partner.js';

/** Which recorded reply tells a poll what the generation is doing. */
export function pollReply({ phase, control }: View): string {
  switch (phase) {
    case 'queued':
      return 'poll-queued';
    case 'running':
      return control.has('unknown_status') ? 'poll-unknown-word' : 'poll-running';
    case 'canceled':
      return 'poll-canceled';
    case 'failed':
    case 'succeeded':
      return `poll-${endOf(control)}`;
  }
}

const endings: Record<string, string> = {
  succeeded: 'submit-accepted',
  rejected: 'submit-rejected-fields',
  'succeeded-without-result': 'submit-without-result',
};

/** Which recorded reply ends a submission that was held back until the generation had ended. */
export function submitReply({ control }: View): string {
  const end = endOf(control);
  return endings[end] ?? `submit-${end}`;
}

function endOf(control: View['control']): string {
  switch (failureOf(control)) {
    case 'policy_submit':
    case 'policy_output':
      return 'content-policy';
    case 'field_output':
      return 'rejected';
    case 'job_failed':
      return 'failed';
    case null:
      return control.has('no_asset') ? 'succeeded-without-result' : 'succeeded';
  }
}

/** The addresses of a generation's files on the partner's other host. */
export const filesOf = ({ generation, assets }: View): string => `${assets}/files/${generation.id}`;

import type { FieldError, Reply } from '../../partner.js';

/** An error of the platform: one sentence, with the type in body and header. */
export function requestError(status: number, type: string, detail: string): Reply {
  return { status, headers: { 'x-fal-error-type': type }, body: { detail, error_type: type } };
}

/** Errors of the model: one entry a field, each with a link to its page. */
export function modelErrors(errors: FieldError[]): Reply {
  return {
    status: 422,
    headers: { 'x-fal-retryable': 'false' },
    body: { detail: errors.map((each) => ({ ...each, url: `https://docs.fal.ai/errors#${each.type}` })) },
  };
}

export function policyError(prompt: string): FieldError {
  return {
    loc: ['body', 'prompt'],
    msg: 'The content could not be processed because it contained material flagged by a content checker.',
    type: 'content_policy_violation',
    input: { prompt },
  };
}

import { type Bucket, buckets, type FieldError } from '#errors';

import type { FailureClass, ProviderFailure } from './contract.js';

/** The bucket of each failure class and the sentence a caller reads; it never quotes the provider. */
export const failureClasses = {
  rejected_input: { bucket: 'invalid_input', publicDetail: 'The model does not accept this input.' },
  content_policy: {
    bucket: 'content_policy_violation',
    publicDetail:
      'The provider refused this content under its content policy; the same input is refused again.',
  },
  provider_failed: { bucket: 'provider_error', publicDetail: 'The provider could not complete the run.' },
  provider_timeout: { bucket: 'provider_timeout', publicDetail: 'The provider did not answer in time.' },
  provider_unavailable: {
    bucket: 'service_unavailable',
    publicDetail: 'The provider is temporarily unavailable; try again later.',
  },
  provider_account: { bucket: 'provider_error', publicDetail: 'The provider could not accept the run.' },
  model_gone: { bucket: 'provider_error', publicDetail: 'The provider no longer serves this model.' },
  unreadable: {
    bucket: 'provider_error',
    publicDetail: 'The provider returned something that cannot be read as a result.',
  },
} as const satisfies Record<FailureClass, { bucket: Bucket; publicDetail: string }>;

/** What the caller gets for a failed run. `fields` is present, and never empty, exactly when `status` is 422. */
export interface Rejection {
  bucket: Bucket;
  status: number;
  detail: string;
  fields?: FieldError[];
}

/** A rejected input without a known field is one entry about the whole body. */
export function toRejection({ class: failureClass, fields = [] }: ProviderFailure): Rejection {
  const { bucket, publicDetail: detail } = failureClasses[failureClass];
  if (bucket !== 'invalid_input') return { bucket, status: buckets[bucket].status, detail };
  const whole: FieldError = { loc: ['body'], msg: detail, type: 'bad_request' };
  return { bucket, status: 422, detail, fields: fields.length > 0 ? fields : [whole] };
}

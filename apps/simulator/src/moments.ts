import { failureOf } from './ledger/generation.js';
import type { Reply, View } from './partner.js';

type Failure = NonNullable<ReturnType<typeof failureOf>>;

/** How a partner words each moment of a generation that it is asked about. */
interface Moments {
  queued(): Reply;
  running(): Reply;
  /** A word that nobody has documented. */
  unknown(): Reply;
  failed(failure: Failure): Reply;
  /** A success that lacks its files. */
  empty(): Reply;
  succeeded(): Reply;
  canceled?(): Reply;
}

export function momentOf({ phase, control }: View, moments: Moments): Reply {
  switch (phase) {
    case 'queued':
      return moments.queued();
    case 'running':
      return control.has('unknown_status') ? moments.unknown() : moments.running();
    case 'canceled':
      return moments.canceled?.() ?? moments.running();
    case 'succeeded':
      return control.has('no_asset') ? moments.empty() : moments.succeeded();
    case 'failed':
      return moments.failed(failureOf(control) ?? 'job_failed');
  }
}

import { type Stage, statusOf } from './status-body.js';

/** The path below which Replicate's clients call. */
export const replicateBase = '/replicate/v1';

/** A run as Replicate's clients see it: a prediction. */
export interface PredictionFacts {
  runId: string;
  /** The base of its URLs, without a trailing slash. */
  origin: string;
  /** The `upstream` of its row: `path` is `models/{owner}/{name}/predictions`, or else the row has a `version`. */
  upstream: Readonly<Record<string, string>>;
  stage: Stage;
  outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  /** Why it failed, by field if the provider rejected its input. */
  failure: { detail: string; fields?: readonly { msg: string }[] } | null;
  dispatchedAt: Date | null;
  completedAt: Date | null;
}

/**
 * Members of every prediction. They replace those of the provider's prediction, which is the output of a run that
 * succeeded.
 */
export function predictionMembers({ runId, origin, dispatchedAt, completedAt }: PredictionFacts) {
  const url = `${origin}${replicateBase}/predictions/${runId}`;
  return {
    id: runId,
    created_at: admittedAt(runId).toISOString(),
    started_at: dispatchedAt,
    completed_at: completedAt,
    urls: { get: url, cancel: `${url}/cancel` },
  };
}

/** The `{owner}/{name}` of a row. Undefined if the row has a version instead. */
export const predictionModel = ({ path = '' }: PredictionFacts['upstream']): string | undefined =>
  /^models\/(.+)\/predictions$/.exec(path)?.[1];

/** A prediction without output. `input` is JSON text. */
export function predictionWithoutOutput(facts: PredictionFacts, input = 'null'): string {
  const { upstream, failure, outcome } = facts;
  const head = {
    ...predictionMembers(facts),
    model: predictionModel(upstream) ?? null,
    version: upstream['version'] ?? 'hidden',
    status: predictionStatus(facts),
    output: null,
    error: outcome === 'failed' ? errorOf(failure) : null,
    logs: '',
    data_removed: false,
  };
  return `${JSON.stringify(head).slice(0, -1)},"input":${input}}`;
}

function predictionStatus({ stage, outcome }: PredictionFacts): string {
  if (outcome !== null) return outcome === 'cancelled' ? 'canceled' : outcome;
  return statusOf(stage) === 'IN_QUEUE' ? 'starting' : 'processing';
}

const errorOf = (failure: PredictionFacts['failure']): string =>
  failure?.fields?.map(({ msg }) => msg).join('; ') || (failure?.detail ?? 'The run failed.');

/** The time in an id, by the clock of the gateway that admitted the run. */
const admittedAt = (runId: string): Date => new Date(parseInt(runId.replaceAll('-', '').slice(0, 12), 16));

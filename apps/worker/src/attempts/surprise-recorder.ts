import { Metrics } from '#observability';
import {
  AttemptRepository,
  BackgroundWriter,
  DatabaseOutage,
  type NotedSurprise,
  ProviderSurpriseRepository,
} from '#persistence';
import type { KeyedProvider, Signal, Surprise } from '#providers';
import { Inject, Injectable } from '@nestjs/common';
import { replyFacts } from './reading.js';
import { redactedReply, withoutSecrets } from './redaction.js';

const everyMs = 5_000;

/** The surprises of one kind since the last write, and the newest of them. */
interface Gathered {
  provider: string;
  count: number;
  runId: string;
  atMs: number;
  surprise: Surprise;
  facts: ReturnType<typeof replyFacts>;
}

/**
 * Counts replies that a provider's declaration does not expect, and keeps the newest one of each provider and kind for
 * operators.
 */
@Injectable()
export class SurpriseRecorder extends BackgroundWriter {
  private gathered = new Map<string, Gathered>();

  constructor(
    @Inject(ProviderSurpriseRepository) private readonly surprises: Pick<ProviderSurpriseRepository, 'note'>,
    @Inject(AttemptRepository) private readonly attempts: Pick<AttemptRepository, 'inputsOf'>,
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'providerSurprises'>,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, everyMs, 'could not write unexpected replies; operators will not see them');
  }

  note(
    { name: provider }: Pick<KeyedProvider, 'name'>,
    runId: string,
    surprise: Surprise,
    reply?: Signal,
  ): void {
    const { kind } = surprise;
    this.metrics.providerSurprises.inc({ provider, kind });
    // The reply may be large, so only its beginning is kept.
    const facts = reply ? replyFacts(reply) : {};
    const key = `${provider} ${kind}`;
    const count = (this.gathered.get(key)?.count ?? 0) + 1;
    this.gathered.set(key, {
      provider,
      count,
      runId,
      atMs: performance.now(),
      surprise,
      facts,
    });
  }

  async write(): Promise<void> {
    if (this.gathered.size === 0) return;
    const gathered = [...this.gathered.values()];
    this.gathered = new Map();
    const inputs = await this.attempts.inputsOf(gathered.map(({ runId }) => runId));
    await this.surprises.note(gathered.map((each) => noted(each, inputs.get(each.runId))));
  }
}

function noted(
  { provider, count, runId, atMs, surprise: { kind, note }, facts: { status, reply } }: Gathered,
  input: Uint8Array | undefined,
): NotedSurprise {
  return {
    provider,
    kind,
    count,
    agoMs: performance.now() - atMs,
    runId,
    detail: withoutSecrets(note),
    httpStatus: status,
    reply: reply === undefined ? undefined : redactedReply(reply, input),
  };
}

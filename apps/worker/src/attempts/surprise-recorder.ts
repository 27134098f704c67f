import { every, Metrics, type PeriodicWork, settlesWithin } from '#observability';
import {
  AttemptRepository,
  DatabaseOutage,
  type NotedSurprise,
  ProviderSurpriseRepository,
} from '#persistence';
import type { BoundProvider, Signal, Surprise } from '#providers';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { replyFacts } from './reading.js';
import { redactedReply, withoutSecrets } from './redaction.js';

const everyMs = 5_000;
const closeMs = 2_000;

/** The surprises of one kind since the last write, and the newest of them. */
interface Gathered {
  provider: string;
  secret: string | undefined;
  count: number;
  runId: string;
  atMs: number;
  surprise: Surprise;
  facts: ReturnType<typeof replyFacts>;
}

/**
 * Counts replies that a provider's declaration does not expect, and keeps the newest one of each provider and kind for
 * operators. No call waits for the writes; they are lost if the database does not take them.
 */
@Injectable()
export class SurpriseRecorder implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private gathered = new Map<string, Gathered>();
  private rounds: PeriodicWork | undefined;

  constructor(
    @Inject(ProviderSurpriseRepository) private readonly surprises: Pick<ProviderSurpriseRepository, 'note'>,
    @Inject(AttemptRepository) private readonly attempts: Pick<AttemptRepository, 'inputsOf'>,
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'providerSurprises'>,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(everyMs, () => this.write(), { onError: (error) => this.lost(error) });
  }

  /** The processors have stopped by now, and the database is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    const last = async () => {
      await this.rounds?.stop();
      await this.write();
    };
    await settlesWithin(
      last().catch((error: unknown) => this.lost(error)),
      closeMs,
    );
  }

  note(
    { name: provider, secret }: Pick<BoundProvider, 'name' | 'secret'>,
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
    this.gathered.set(key, { provider, secret, count, runId, atMs: performance.now(), surprise, facts });
  }

  async write(): Promise<void> {
    if (this.gathered.size === 0) return;
    const gathered = [...this.gathered.values()];
    this.gathered = new Map();
    const inputs = await this.attempts.inputsOf(gathered.map(({ runId }) => runId));
    await this.surprises.note(gathered.map((each) => noted(each, inputs.get(each.runId))));
  }

  private lost(error: unknown): void {
    this.outage.warn({ error }, 'could not write unexpected replies; operators will not see them');
  }
}

function noted(
  { provider, secret, count, runId, atMs, surprise: { kind, note }, facts: { status, reply } }: Gathered,
  input: Uint8Array | undefined,
): NotedSurprise {
  return {
    provider,
    kind,
    count,
    agoMs: performance.now() - atMs,
    runId,
    detail: withoutSecrets(note, secret),
    httpStatus: status,
    reply: reply === undefined ? undefined : redactedReply(reply, secret, input),
  };
}

import { SETTINGS } from '#infrastructure';
import { every, type Log, LOG, type PeriodicWork } from '#observability';
import { checkCallMs, DatabaseOutage, ProviderCheckRepository } from '#persistence';
import { type BoundProvider, type CheckAnswer, isPool, type ProviderKey } from '#providers';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { v7 } from 'uuid';
import { Payloads } from '../bytes/payloads.js';
import { Providers } from '../providers.js';
import type { WorkerSettings } from '../settings.js';
import { ProviderClient } from './provider-client.js';
import { ProviderResults } from './provider-results.js';

const everyMs = 1_000;

/** Makes the free calls by which operators check the keys of providers, because only workers have the keys. */
@Injectable()
export class ProviderChecks implements OnApplicationBootstrap, OnModuleDestroy {
  private rounds: PeriodicWork | undefined;
  private readonly stopping = new AbortController();
  private readonly calls = new Set<Promise<void>>();

  constructor(
    private readonly checks: ProviderCheckRepository,
    private readonly providers: Providers,
    private readonly client: ProviderClient,
    private readonly results: ProviderResults,
    private readonly payloads: Payloads,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'PROVIDER_POLL_TIMEOUT_MS'>,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds = every(everyMs, () => this.round(), {
      onError: (error) => this.outage.warn({ error }, 'could not look for checks of providers'),
    });
  }

  /** Ends calls in flight: the operator asks again. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.rounds?.stop();
    await Promise.all(this.calls);
  }

  /** Starts the calls without waiting for them, so that a provider that hangs does not delay the others. */
  private async round(): Promise<void> {
    const { rekeyed } = this.providers;
    for (const [name, kept] of rekeyed) {
      await this.checks.forgetKeys(name, kept);
      if (rekeyed.get(name) === kept) rekeyed.delete(name);
      this.start([name]);
    }
    const providers = this.providers.checkable();
    if (providers.length > 0) this.start(await this.checks.take(providers));
  }

  private start(names: readonly string[]): void {
    for (const name of names) {
      const call = this.check(name)
        .catch((error: unknown) => this.outage.warn({ error, provider: name }, 'could not check a provider'))
        .finally(() => this.calls.delete(call));
      this.calls.add(call);
    }
  }

  /** Checks every key, and answers for the first one that is not accepted. */
  private async check(name: string): Promise<void> {
    const provider = this.providers.get(name);
    if (!provider?.check) return;
    const named = isPool(provider.keys);
    const checks = provider.keys.map(async (key) => {
      const answer = await this.checkKey(provider, key);
      const detail = named ? [`Key ${key.name}.`, answer?.detail ?? ''].join(' ').trim() : answer?.detail;
      return answer && { ...answer, ...(detail !== undefined && { detail }) };
    });
    const answers = (await Promise.all(checks)).flatMap((answer) => answer ?? []);
    if (answers.length < provider.keys.length) return;
    const answer = answers.find(({ result }) => result !== 'ok') ?? answers[0];
    if (!answer) return;
    if (answer.result === 'ok' || answer.result === 'rejected')
      this.results.noteCheck(
        name,
        answers.some(({ result }) => result === 'ok'),
      );
    this.log.info({ provider: name, result: answer.result }, 'checked the keys of a provider');
    await this.checks.answer(name, answer);
  }

  /** Makes the free call with a key. Undefined if there is none, or the worker stops. */
  async checkKey(
    provider: BoundProvider,
    key: ProviderKey,
  ): Promise<(CheckAnswer & { latencyMs: number }) | undefined> {
    if (!provider.check) return undefined;
    using share = this.payloads.openShare('');
    const begunMs = performance.now();
    const signal = await this.client.callProvider(
      { ...provider, key },
      {
        runId: v7(),
        workspaceId: '',
        operation: 'check',
        call: provider.check.call,
        timeoutMs: Math.min(checkCallMs, this.settings.PROVIDER_POLL_TIMEOUT_MS),
        share,
        signal: this.stopping.signal,
      },
    );
    const latencyMs = Math.round(performance.now() - begunMs);
    if (this.stopping.signal.aborted) return undefined;
    return { ...provider.check.read(signal), latencyMs };
  }
}

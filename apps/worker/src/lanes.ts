import { RouterError } from '#errors';
import type { Consumer, Transport, Verdict } from '#queue';
import type { AssetCopying } from './assets/copying.js';
import type { Dispatch } from './life/dispatch.js';
import type { Leases } from './life/leases.js';
import type { Progress } from './life/progress.js';
import type { Polling } from './life/poll.js';
import type { Sweep } from './life/sweep.js';
import type { Providers } from './providers.js';

interface LaneParts {
  transport: Transport;
  providers: Providers;
  dispatch: Dispatch;
  polling: Polling;
  copying: AssetCopying;
  leases: Leases;
  sweep: Sweep;
  progress: Progress;
}

interface LaneOptions {
  WORKER_DISPATCH_CONCURRENCY: number;
  WORKER_POLL_CONCURRENCY: number;
  WORKER_ASSET_CONCURRENCY: number;
  WORKER_CLOSE_MS: number;
}

const pauseMs = 1000;

/** Polls and copies go on at another worker at no cost, so a stopping one does not wait for them as for submissions. */
const repeatedCloseMs = 8000;

/** While the database is away the job stays: a failed one would come back only when its row has rested. */
const again = (handling: Promise<Verdict>): Promise<Verdict> =>
  handling.catch((error: unknown): Verdict => {
    if (error instanceof RouterError && error.bucket === 'service_unavailable')
      return { kind: 'again', afterMs: pauseMs };
    throw error;
  });

/** What this worker does: a dispatch lane per provider, the poll lane, the lane of assets, the sweep. */
export class Lanes {
  private readonly dispatching = new Map<string, Consumer>();
  private consumers: Consumer[] = [];

  constructor(
    private readonly parts: LaneParts,
    private readonly options: LaneOptions,
  ) {}

  start(): void {
    this.parts.leases.start();
    this.parts.sweep.start();
    this.openDispatch();
    this.parts.providers.whenBound(() => this.openDispatch());
    this.consumers.push(
      this.parts.transport.consume({
        lane: 'poll',
        provider: '',
        concurrency: this.options.WORKER_POLL_CONCURRENCY,
        handle: (runId, signal, crashes) =>
          this.parts.progress.during(() => again(this.parts.polling.handle(runId, signal, crashes))),
      }),
      this.parts.transport.consume({
        lane: 'assets',
        provider: '',
        concurrency: this.options.WORKER_ASSET_CONCURRENCY,
        handle: (runId, signal, crashes) =>
          this.parts.progress.during(() => again(this.parts.copying.handle(runId, signal, crashes))),
      }),
    );
  }

  /** Opens the lane of each provider that has none yet. A lane stays open: a provider that is gone may have runs in it. */
  private openDispatch(): void {
    for (const name of this.parts.providers.names()) {
      if (this.dispatching.has(name)) continue;
      const consumer = this.parts.transport.consume({
        lane: 'dispatch',
        provider: name,
        concurrency: this.options.WORKER_DISPATCH_CONCURRENCY,
        handle: (runId, signal, crashes) =>
          this.parts.progress.during(() => again(this.handleDispatch(name, runId, signal, crashes))),
      });
      this.dispatching.set(name, consumer);
    }
  }

  /** By the provider as it is declared now, not as it was when its lane was opened. */
  private async handleDispatch(
    name: string,
    runId: string,
    signal: AbortSignal,
    crashes: number,
  ): Promise<Verdict> {
    const provider = this.parts.providers.get(name);
    if (provider === undefined) return { kind: 'again', afterMs: pauseMs };
    return this.parts.dispatch.handle(provider, runId, signal, crashes);
  }

  /** Calls in the air may end; what is waiting stays in its lane for another worker. */
  async stop(): Promise<void> {
    this.parts.sweep.stop();
    const { WORKER_CLOSE_MS: closeMs } = this.options;
    const submitting = [...this.dispatching.values()].map((consumer) => consumer.close(closeMs));
    const repeating = this.consumers.map((consumer) => consumer.close(Math.min(closeMs, repeatedCloseMs)));
    await Promise.all([...submitting, ...repeating]);
    this.parts.leases.stop();
  }
}

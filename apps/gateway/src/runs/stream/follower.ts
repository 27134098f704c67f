import type { LiveState } from '#persistence';

type News = 'found' | 'signalled' | 'quiet' | 'ended';

/** One stream that waits for news of its run. */
export class Follower {
  /** What its client knows; undefined before the first read. */
  told: LiveState | undefined;
  /** The last state that a look at all followed runs found. */
  found: LiveState | undefined;
  private readonly endsAtMs: number;
  private news: Exclude<News, 'quiet'> | undefined;
  private resolve: (() => void) | undefined;

  constructor(maxMs: number) {
    this.endsAtMs = performance.now() + maxMs;
  }

  wake(news: 'found' | 'signalled', state?: LiveState): void {
    if (state) this.found = state;
    // A signal says that the row is newer than what a look may have found before.
    if (this.news === undefined || (this.news === 'found' && news === 'signalled')) this.news = news;
    this.resolve?.();
  }

  end(): void {
    this.news = 'ended';
    this.resolve?.();
  }

  /** The news since the last call, once there are any; `quiet` when there were none for `quietMs`. */
  async next(quietMs: number): Promise<News> {
    const leftMs = this.endsAtMs - performance.now();
    if (this.news === undefined && leftMs > 0) await this.wait(Math.min(quietMs, leftMs));
    const { news } = this;
    if (news !== 'ended') this.news = undefined;
    if (performance.now() >= this.endsAtMs) return 'ended';
    return news ?? 'quiet';
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.resolve = undefined;
        resolve();
      };
      const timer = setTimeout(settle, ms);
      this.resolve = settle;
    });
  }
}

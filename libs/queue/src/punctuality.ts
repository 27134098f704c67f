import type { Metrics } from '#observability';

interface Job {
  id?: string;
  name: string;
  timestamp: number;
  delay: number;
  attemptsStarted: number;
}

/** So many of the jobs that were put off here are remembered; the rest are not measured. */
const most = 20_000;

/**
 * How long after it was due a job is taken. The server forgets when a job that was put off is due, so each
 * process remembers those it put off itself: what another one takes is not measured, which is as good a sample.
 */
export class Punctuality {
  private readonly dueAtMs = new Map<string, number>();

  constructor(
    private readonly queue: string,
    private readonly metrics: Metrics | undefined,
  ) {}

  wanted({ id = '' }: Pick<Job, 'id'>, afterMs: number): void {
    if (!this.metrics) return;
    if (this.dueAtMs.size >= most) this.forgetOldest();
    this.dueAtMs.set(id, Date.now() + afterMs);
  }

  taken({ id = '', name, timestamp, delay, attemptsStarted }: Job): void {
    const remembered = this.dueAtMs.get(id);
    this.dueAtMs.delete(id);
    const dueAtMs = remembered ?? (attemptsStarted === 1 ? timestamp + delay : undefined);
    if (!this.metrics || dueAtMs === undefined) return;
    const lateSeconds = Math.max(0, Date.now() - dueAtMs) / 1000;
    this.metrics.queueWaitSeconds.observe({ queue: this.queue }, lateSeconds);
    if (this.queue === 'poll') this.metrics.pollLatenessSeconds.observe({ provider: name }, lateSeconds);
  }

  private forgetOldest(): void {
    const [oldest = ''] = this.dueAtMs.keys();
    this.dueAtMs.delete(oldest);
  }
}

import type { Metrics } from '#observability';
import type { Job } from 'bullmq';

/** So many of the jobs that were put off here are remembered; the rest are not measured. */
const maxRemembered = 20_000;

/**
 * How long after it was due a job is taken. The server forgets when a job that was put off is due, so each process
 * remembers those it put off itself: what another one takes is not measured, which is as good a sample.
 */
export class Lateness {
  private readonly dueAtMs = new Map<string, number>();

  constructor(
    private readonly queue: string,
    private readonly metrics: Metrics,
  ) {}

  putOff(jobId: string, delayMs: number): void {
    const [oldest] = this.dueAtMs.keys();
    if (oldest !== undefined && this.dueAtMs.size >= maxRemembered) this.dueAtMs.delete(oldest);
    this.dueAtMs.set(jobId, Date.now() + delayMs);
  }

  taken({ id = '', name, timestamp, delay, attemptsStarted }: Job): void {
    const dueAtMs = this.dueAtMs.get(id) ?? (attemptsStarted === 1 ? timestamp + delay : undefined);
    this.dueAtMs.delete(id);
    if (dueAtMs === undefined) return;
    const lateSeconds = Math.max(0, Date.now() - dueAtMs) / 1000;
    this.metrics.queueWaitSeconds.observe({ queue: this.queue }, lateSeconds);
    if (this.queue === 'poll') this.metrics.pollLatenessSeconds.observe({ provider: name }, lateSeconds);
  }
}

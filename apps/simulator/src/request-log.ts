/** One HTTP request that reached a listener. `status` is null until it is answered, and stays null if it is cut off. */
export interface RecordedRequest {
  atMs: number;
  listener: 'api' | 'assets';
  method: string;
  path: string;
  credential: boolean;
  /** Whether it carried a header of the router's own, which is for the router alone. */
  ownHeader: boolean;
  status: number | null;
}

const maxKept = 100_000;

/**
 * Keeps the latest requests only: with thousands of polls a second, an unbounded log would limit how long a load test
 * can last. Requests that carried a credential to the second listener, a header of the router's own, or the key of
 * another account are all kept.
 */
export class RequestLog {
  private recent: RecordedRequest[] = [];
  private violations: RecordedRequest[] = [];
  private total = 0;

  add(request: RecordedRequest): void {
    this.total += 1;
    if (request.ownHeader || (request.listener === 'assets' && request.credential))
      this.violations.push(request);
    this.recent.push(request);
    if (this.recent.length > maxKept) this.recent = this.recent.slice(maxKept / 2);
  }

  /** Marks a request as one that the router must not make. */
  violate(request: RecordedRequest): void {
    this.violations.push(request);
  }

  /** Oldest first. `path` is a prefix. */
  list(only: { listener?: string | undefined; method?: string | undefined; path?: string | undefined }) {
    const requests = this.recent.filter(
      (each) =>
        (only.listener === undefined || each.listener === only.listener) &&
        (only.method === undefined || each.method === only.method) &&
        (only.path === undefined || each.path.startsWith(only.path)),
    );
    const { total, violations } = this;
    return { total, dropped: total - this.recent.length, violations, requests };
  }

  reset(): void {
    [this.recent, this.violations, this.total] = [[], [], 0];
  }
}

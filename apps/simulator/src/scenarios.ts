import { readControl, type Control } from './control.js';

/** Outcomes queued by the admin route: each one applies to the partner's next submission, on top of the prompt. */
export class Scenarios {
  private readonly queues = new Map<string, string[][]>();

  /** Returns what is wrong with the tokens; nothing is queued then. */
  queue(provider: string, tokens: string[], times: number): string[] {
    const { problems } = readControl(tokens);
    if (problems.length > 0) return problems;
    const queue = this.queues.get(provider) ?? [];
    for (let each = 0; each < times; each += 1) queue.push(tokens);
    this.queues.set(provider, queue);
    return [];
  }

  /** What waits at the head of the queue, left there. */
  peek(provider: string): Control {
    return readControl(this.queues.get(provider)?.[0] ?? []).control;
  }

  take(provider: string): string[] {
    return this.queues.get(provider)?.shift() ?? [];
  }

  reset(): void {
    this.queues.clear();
  }
}

/** Providers whose waiting line a worker is to look at. */
export interface WakeUps {
  /** Tells a worker that runs wait for the providers. Never rejects: every worker looks once a second anyway. */
  wake(providers: Iterable<string>): void;
  /** Hears of such providers from now on. At most one of the listeners, or each of them, hears a wake-up. */
  listen(heard: (provider: string) => void): WakeUpListener;
}

export interface WakeUpListener {
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

/** Sends one message at a time: the names that come meanwhile travel in the next, each once. */
export class Gathered {
  private readonly names = new Set<string>();
  private isSending = false;

  constructor(private readonly send: (names: string[]) => Promise<unknown>) {}

  add(names: Iterable<string>): void {
    for (const name of names) this.names.add(name);
    if (!this.isSending) void this.sendAll();
  }

  private async sendAll(): Promise<void> {
    this.isSending = true;
    while (this.names.size > 0) {
      const names = [...this.names];
      this.names.clear();
      await this.send(names);
    }
    this.isSending = false;
  }
}

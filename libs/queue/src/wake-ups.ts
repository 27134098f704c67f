/** Listens for wake-ups until it is closed. */
export interface WakeUpListener {
  close(): Promise<void>;
}

/** Sends one message at a time. Names that are added meanwhile go into the next message, each once. */
export class Gathered {
  private readonly names = new Set<string>();
  /** Resolves when nothing is left to send. */
  sent: Promise<void> = Promise.resolve();
  private isSending = false;

  constructor(private readonly send: (names: string[]) => Promise<unknown>) {}

  add(names: Iterable<string>): void {
    for (const name of names) this.names.add(name);
    if (!this.isSending) this.sent = this.sendAll();
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

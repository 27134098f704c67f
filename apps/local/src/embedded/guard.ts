import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appMain } from '../checkout.js';
import type { FromGuard, ServerEnd, ServerSpec, ToGuard } from './guard-messages.js';

/** With the start of the guard itself, on a machine that is busy. */
const startWithinMs = 60_000;

export interface GuardedServer {
  readonly pid: number;
  /** Undefined while it runs. */
  readonly end: ServerEnd | undefined;
  /** Settles when the server has ended, for whatever reason. */
  readonly ended: Promise<ServerEnd>;
  stop(): Promise<void>;
}

class Entry {
  pid: number | undefined;
  end: ServerEnd | undefined;
  started: (pid: number) => void;
  failed: (error: Error) => void;
  private settle: (end: ServerEnd) => void;
  readonly starting = new Promise<number>((resolve, reject) => {
    this.started = resolve;
    this.failed = reject;
  });
  readonly ended = new Promise<ServerEnd>((resolve) => {
    this.settle = resolve;
  });

  constructor(readonly spec: ServerSpec) {}

  over(end: ServerEnd): void {
    this.end = end;
    this.settle(end);
  }
}

/** The owner's side of the guard process. Whatever was run through it ends with this process. */
export class Guard {
  private readonly entries = new Map<number, Entry>();
  private lastId = 0;
  private closing = false;
  private held = 0;
  /** Settles when the guard process itself has gone. */
  readonly gone: Promise<void>;

  private constructor(private readonly child: ChildProcess) {
    this.gone = once(child, 'exit').then(() => this.onGone());
    child.on('message', (message: FromGuard) => this.onMessage(message));
    // An owner that has nothing else to do may end: that is what the guard is for.
    child.unref();
    child.channel?.unref();
  }

  static open(): Guard {
    return new Guard(
      spawn(process.execPath, [appMain('local'), 'guard'], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        detached: true,
      }),
    );
  }

  async run(spec: ServerSpec): Promise<GuardedServer> {
    const id = ++this.lastId;
    const entry = new Entry(spec);
    this.entries.set(id, entry);
    this.tell({ kind: 'run', id, spec });
    const timer = setTimeout(
      () => entry.failed(new Error(`${spec.name} was not started in time`)),
      startWithinMs,
    );
    try {
      const pid = await this.hold(entry.starting);
      const stop = async () => {
        this.tell({ kind: 'stop', id });
        await this.hold(entry.ended);
      };
      return {
        pid,
        ended: entry.ended,
        stop,
        get end() {
          return entry.end;
        },
      };
    } catch (error) {
      this.entries.delete(id);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The process is killed when this one has gone and it does not end by itself. */
  watch(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.tell({ kind: 'watch', pid });
    child.once('exit', () => this.tell({ kind: 'forget', pid }));
  }

  /** The file is true only while this process lives: it is taken away with it. */
  removeAtEnd(file: string): void {
    this.tell({ kind: 'remove', file });
  }

  /** Ends every server that still runs, then the guard. Bounded by the guard's own limits. */
  async close(): Promise<void> {
    this.closing = true;
    if (this.child.connected) this.child.disconnect();
    await this.hold(this.gone);
  }

  /** Keeps this process alive while it waits for the guard. */
  private async hold<T>(waiting: Promise<T>): Promise<T> {
    this.held += 1;
    this.child.ref();
    this.child.channel?.ref();
    try {
      return await waiting;
    } finally {
      this.held -= 1;
      if (this.held === 0) {
        this.child.unref();
        this.child.channel?.unref();
      }
    }
  }

  private tell(message: ToGuard): void {
    if (this.child.connected) this.child.send(message);
  }

  private onMessage(message: FromGuard): void {
    const entry = this.entries.get(message.id);
    if (!entry) return;
    switch (message.kind) {
      case 'started':
        entry.pid = message.pid;
        entry.started(message.pid);
        return;
      case 'failed':
        entry.failed(new Error(`${entry.spec.name}: ${message.message}`));
        return;
      case 'ended':
        this.entries.delete(message.id);
        entry.over({ code: message.code, signal: message.signal });
    }
  }

  /** Without its guard a server would be nobody's: it is ended here. */
  private onGone(): void {
    for (const entry of this.entries.values()) {
      entry.failed(new Error(`${entry.spec.name}: its guard has ended`));
      if (entry.pid !== undefined && !this.closing) {
        try {
          process.kill(entry.pid, entry.spec.stopSignal);
        } catch {
          // It had ended already.
        }
      }
      entry.over({ code: null, signal: null });
    }
    this.entries.clear();
  }
}

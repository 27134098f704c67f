/** Calls at once to one receiver of a workspace, and to all of them, by one worker. */
const maxOfReceiver = 10;
const maxOfWorkspace = 50;

interface Receiver {
  workspaceId: string;
  receiver: string;
}

/** Concurrency slots for webhooks: a receiver that hangs takes its own, and a workspace of many such takes only its own. */
export class ReceiverSlots {
  private readonly held = new Map<string, number>();

  isFree(to: Receiver): boolean {
    return this.count(keyOf(to)) < maxOfReceiver && this.count(to.workspaceId) < maxOfWorkspace;
  }

  acquire(to: Receiver): boolean {
    if (!this.isFree(to)) return false;
    this.add(keyOf(to), 1);
    this.add(to.workspaceId, 1);
    return true;
  }

  release(to: Receiver): void {
    this.add(keyOf(to), -1);
    this.add(to.workspaceId, -1);
  }

  private count(key: string): number {
    return this.held.get(key) ?? 0;
  }

  /** Callers choose the receivers, so what nobody holds is forgotten. */
  private add(key: string, difference: 1 | -1): void {
    const count = this.count(key) + difference;
    if (count === 0) this.held.delete(key);
    else this.held.set(key, count);
  }
}

const keyOf = ({ workspaceId, receiver }: Receiver): string => `${workspaceId} ${receiver}`;

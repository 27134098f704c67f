/**
 * Bytes of the large bodies that a gateway holds. A workspace may hold as much as is left free, so there is always room
 * for the next one: alone half of the budget, beside another one a third.
 */
export class BodyBudget {
  private heldBytes = 0;
  private readonly heldByWorkspace = new Map<string, number>();

  constructor(private readonly maxBytes: number) {}

  /** Counts the bytes, unless that would be more than the workspace may hold; whether it did. */
  take(workspaceId: string, bytes: number): boolean {
    const held = this.heldByWorkspace.get(workspaceId) ?? 0;
    if (held + bytes > this.maxBytes - this.heldBytes - bytes) return false;
    this.count(workspaceId, held + bytes, bytes);
    return true;
  }

  giveBack(workspaceId: string, bytes: number): void {
    if (bytes > 0) this.count(workspaceId, (this.heldByWorkspace.get(workspaceId) ?? 0) - bytes, -bytes);
  }

  private count(workspaceId: string, held: number, change: number): void {
    this.heldBytes += change;
    if (held === 0) this.heldByWorkspace.delete(workspaceId);
    else this.heldByWorkspace.set(workspaceId, held);
  }
}

/**
 * The number of connections that one client needs: a browser opens up to six, and an old one counts until it has
 * closed.
 */
const few = 8;

/**
 * Shares a limited resource, such as connections, among holders. A holder may hold at most as much as is left free,
 * so there is always room for another: one holder gets at most half, two get a third each.
 */
export class Shares {
  private held = 0;
  private readonly heldBy = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** Returns false, and takes nothing, if the holder would exceed its share. */
  take(holder: string, amount = 1): boolean {
    const own = this.heldBy.get(holder) ?? 0;
    if (own + amount > this.max - this.held - amount) return false;
    this.count(holder, own + amount, amount);
    return true;
  }

  /** Whether the holder has less than an equal share, or less than one client needs. */
  isBelowEqualShare(holder: string): boolean {
    const equal = this.max / (this.heldBy.size + 1);
    return (this.heldBy.get(holder) ?? 0) < Math.max(equal, Math.min(few, this.max / 4));
  }

  giveBack(holder: string, amount = 1): void {
    if (amount > 0) this.count(holder, (this.heldBy.get(holder) ?? 0) - amount, -amount);
  }

  private count(holder: string, own: number, change: number): void {
    this.held += change;
    if (own === 0) this.heldBy.delete(holder);
    else this.heldBy.set(holder, own);
  }
}

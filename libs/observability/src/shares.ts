/**
 * The number of connections that one client needs: a browser opens up to six, and an old one counts until it has
 * closed.
 */
const few = 8;

/**
 * Shares a limited resource, such as connections or memory, among holders. A holder may hold at most as much as is left free,
 * so there is always room for another: one holder gets at most half, two get a third each.
 */
export class Shares {
  private held = 0;
  private readonly heldBy = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** Returns false, and takes nothing, if the holder would exceed its share. */
  take(holder: string, amount = 1): boolean {
    if (!this.mayTake(holder, amount)) return false;
    this.exceed(holder, amount);
    return true;
  }

  mayTake(holder: string, amount: number): boolean {
    return (this.heldBy.get(holder) ?? 0) + amount <= this.free - amount;
  }

  /** Takes the amount even if the holder exceeds its share, or more is held than there is. */
  exceed(holder: string, amount: number): void {
    this.count(holder, (this.heldBy.get(holder) ?? 0) + amount, amount);
  }

  /** The amount that nobody holds; negative if more is held than there is. */
  get free(): number {
    return this.max - this.held;
  }

  /** Whether the holder has less than an equal share, or less than one client needs. */
  isBelowEqualShare(holder: string): boolean {
    const equal = this.max / (this.heldBy.size + 1);
    return (this.heldBy.get(holder) ?? 0) < Math.max(equal, Math.min(few, this.max / 4));
  }

  /** Whether the holder holds more than all others together, so that its own use is why nothing is left for it. */
  holdsMost(holder: string): boolean {
    return (this.heldBy.get(holder) ?? 0) > this.held / 2;
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

/** The connections that one client needs: a browser opens up to six, and an old one is counted until it has closed. */
const few = 8;

/**
 * Shares of something that everybody uses, such as connections. A holder may hold as much as is left free, so there is
 * always room for the next one: alone half of it, beside another one a third.
 */
export class Shares {
  private held = 0;
  private readonly heldBy = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** False when that would be more than the holder may hold; then nothing is taken. */
  take(holder: string, amount = 1): boolean {
    const own = this.heldBy.get(holder) ?? 0;
    if (own + amount > this.max - this.held - amount) return false;
    this.count(holder, own + amount, amount);
    return true;
  }

  /** Whether the holder has less than an equal share, or so little that it needs more whatever others hold. */
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

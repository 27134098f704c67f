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

  /** Whether the holder would hold less than the rest if everybody, and one more, held the same. */
  isBelowEqualShare(holder: string): boolean {
    return (this.heldBy.get(holder) ?? 0) < this.max / (this.heldBy.size + 1);
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

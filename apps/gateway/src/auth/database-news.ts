import { Injectable } from '@nestjs/common';

/** Passes on that the bounds of prices changed, or may have changed while nobody listened. */
@Injectable()
export class DatabaseNews {
  private readonly listeners = new Set<() => void>();

  onOvershoot(listener: () => void): void {
    this.listeners.add(listener);
  }

  tellOvershoot(): void {
    for (const listener of this.listeners) listener();
  }
}

import { RouterError } from '#errors';
import { DatabaseError } from 'pg';

/** It takes new pages: a disk that is full still has room for some writes, in pages that are there already. */
export const roomProbe = `CREATE TEMPORARY TABLE room ON COMMIT DROP AS SELECT repeat('x', 4000) FROM generate_series(1, 250)`;

/** Whether the database has room: none once a write was refused for a full disk, and again when a probe finds some. */
export class RoomWatch {
  private lacksRoom = false;
  private probing: Promise<boolean> | undefined;

  constructor(private readonly probe: () => Promise<unknown>) {}

  /** To be called with what a write failed of. */
  note(error: unknown): void {
    this.lacksRoom ||= isDiskFull(error);
  }

  async hasRoom(): Promise<boolean> {
    if (!this.lacksRoom) return true;
    this.probing ??= this.probed().finally(() => (this.probing = undefined));
    this.lacksRoom = !(await this.probing);
    return !this.lacksRoom;
  }

  private async probed(): Promise<boolean> {
    try {
      await this.probe();
      return true;
    } catch (error) {
      // A role that may not make tables learns nothing by the probe.
      return !isDiskFull(error);
    }
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof RouterError && error.cause instanceof DatabaseError && error.cause.code === '53100';

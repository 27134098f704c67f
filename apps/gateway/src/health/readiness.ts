import { Database } from '#persistence';
import { Injectable } from '@nestjs/common';

/** Whether calls should be sent here. */
@Injectable()
export class Readiness {
  private isStopping = false;

  constructor(private readonly database: Database) {}

  get stopping(): boolean {
    return this.isStopping;
  }

  async ready(): Promise<boolean> {
    return !this.isStopping && (await this.database.healthy());
  }

  /** From now on not ready. The listener closes next: who balances has to have stopped sending, as `preStop` in k8s sees to. */
  stop(): void {
    this.isStopping = true;
  }
}

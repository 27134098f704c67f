import { InternalServer } from '#observability';
import { ClockSkew, Database } from '#persistence';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';

/** Whether calls should be sent here. */
@Injectable()
export class Readiness implements OnModuleInit, OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly clock: ClockSkew,
    private readonly internal: InternalServer,
  ) {}

  onModuleInit(): void {
    this.internal.setProbes({ ready: () => this.ready(), live: () => true });
  }

  get stopping(): boolean {
    return this.isStopping;
  }

  /** True, false, or what an operator has to put right. */
  async ready(): Promise<boolean | string> {
    if (this.clock.problem !== undefined) return this.clock.problem;
    if (this.isStopping) return false;
    try {
      return (await this.database.takesWrites()) || 'the database takes no writes';
    } catch {
      return false;
    }
  }

  /** The listener closes next: the load balancer must have stopped sending by then, as `preStop` in k8s sees to. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }
}

import { StoreIdentity } from '#infrastructure';
import { InternalServer } from '#observability';
import { ClockSkew, Database } from '#persistence';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';

/** Whether this gateway should receive calls. */
@Injectable()
export class Readiness implements OnModuleInit, OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly database: Database,
    private readonly clock: ClockSkew,
    private readonly store: StoreIdentity,
    private readonly internal: InternalServer,
  ) {}

  onModuleInit(): void {
    this.internal.setProbes({ ready: () => this.ready(), live: () => true });
  }

  get stopping(): boolean {
    return this.isStopping;
  }

  /** True, false, or the problem that an operator must fix. */
  async ready(): Promise<boolean | string> {
    const problem = this.clock.problem ?? this.store.problem;
    if (problem !== undefined) return problem;
    if (this.isStopping) return false;
    try {
      return (await this.database.takesWrites()) || 'the database does not accept writes';
    } catch {
      return false;
    }
  }

  /**
   * The listener closes next. The load balancer must have stopped sending by then; in Kubernetes, `preStop` waits for
   * that.
   */
  onModuleDestroy(): void {
    this.isStopping = true;
  }
}

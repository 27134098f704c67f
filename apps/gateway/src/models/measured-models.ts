import { every, type PeriodicWork } from '#observability';
import { Database, DatabaseOutage, type MeasuredModel, measuredModels } from '#persistence';
import type { RouterModelFullEntry } from '#schemas';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

/** The figures change only when an hour of runs is added up. */
const refreshMs = 15 * 60_000;

type Measured = NonNullable<RouterModelFullEntry['measured']>;

/** How fast models are and how often they succeed, as their runs show. At most fifteen minutes old while the database answers. */
@Injectable()
export class MeasuredModels implements OnApplicationBootstrap, OnApplicationShutdown {
  private measured: ReadonlyMap<string, Measured> = new Map();
  private refreshing: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.refreshing = every(refreshMs, () => this.refresh(), {
      onError: (error) => this.outage.warn({ error }, 'could not read the measured times of models'),
      immediately: true,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.refreshing?.stop();
  }

  /** Undefined for a model with too few runs. */
  of(id: string): Measured | undefined {
    return this.measured.get(id);
  }

  private async refresh(): Promise<void> {
    const models = await measuredModels(this.database);
    this.measured = new Map(models.map((model) => [model.model, rounded(model)]));
  }
}

/** Rounded, so that two answers do not tell what another workspace ran in between. */
const rounded = ({ runs, succeeded, medianSeconds, days }: MeasuredModel): Measured => ({
  ...(medianSeconds !== null && { median_seconds: Number(medianSeconds.toPrecision(2)) }),
  success_share: Math.floor((100 * succeeded) / runs) / 100,
  runs: runs - (runs % 10 ** Math.max(0, Math.floor(Math.log10(runs)) - 1)),
  days,
});

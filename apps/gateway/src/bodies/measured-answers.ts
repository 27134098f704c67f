import type { MeasuredRows } from '#catalog';
import { every, type PeriodicWork } from '#observability';
import { Database, DatabaseOutage, measuredAnswers } from '#persistence';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

// The figures change once an hour, and reading those of many models takes a second.
const refreshMs = 10 * 60_000;

/** The length and speed of answers of text models, as finished runs show them. At most ten minutes old while the database answers. */
@Injectable()
export class MeasuredAnswers implements OnApplicationBootstrap, OnApplicationShutdown {
  answers: MeasuredRows = new Map();
  private refreshing: PeriodicWork | undefined;

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) private readonly outage: Pick<DatabaseOutage, 'warn'>,
  ) {}

  onApplicationBootstrap(): void {
    this.refreshing = every(refreshMs, () => this.refresh(), {
      onError: (error) => this.outage.warn({ error }, 'could not read the measured answers of models'),
      immediately: true,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.refreshing?.stop();
  }

  private async refresh(): Promise<void> {
    const models = await measuredAnswers(this.database);
    this.answers = new Map(models.map(({ model, ...figures }) => [model, figures]));
  }
}

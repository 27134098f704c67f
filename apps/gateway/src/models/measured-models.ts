import { DatabaseFigures } from '#infrastructure';
import { Database, DatabaseOutage, type MeasuredModel, measuredModels } from '#persistence';
import type { RouterModelFullEntry } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';

/** The figures change only when an hour of runs is added up. */
const refreshMs = 15 * 60_000;

type Measured = NonNullable<RouterModelFullEntry['measured']>;

/** How fast models are and how often they succeed, as their runs show. At most fifteen minutes old while the database answers. */
@Injectable()
export class MeasuredModels extends DatabaseFigures {
  private measured: ReadonlyMap<string, Measured> = new Map();

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, refreshMs, 'could not read the measured times of models');
  }

  /** Undefined for a model with too few runs. */
  of(id: string): Measured | undefined {
    return this.measured.get(id);
  }

  protected async read(): Promise<void> {
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

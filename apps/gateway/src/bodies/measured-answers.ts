import type { MeasuredRows, Model } from '#catalog';
import { DatabaseFigures } from '#infrastructure';
import { Database, DatabaseOutage, measuredAnswers } from '#persistence';
import { Inject, Injectable } from '@nestjs/common';

// The figures change once an hour, and reading those of many models takes a second.
const refreshMs = 10 * 60_000;

/** The length and speed of answers of text models, as finished runs show them. At most ten minutes old while the database answers. */
@Injectable()
export class MeasuredAnswers extends DatabaseFigures {
  answers: MeasuredRows = new Map();

  constructor(
    private readonly database: Database,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, refreshMs, 'could not read the measured answers of models');
  }

  /** Returns the figures of these rows only, because a thread gets a copy. */
  of(rows: readonly Model[]): MeasuredRows {
    return new Map(
      rows.flatMap(({ id }) => {
        const figures = this.answers.get(id);
        return figures === undefined ? [] : [[id, figures]];
      }),
    );
  }

  protected async read(): Promise<void> {
    const models = await measuredAnswers(this.database);
    this.answers = new Map(models.map(({ model, ...figures }) => [model, figures]));
  }
}

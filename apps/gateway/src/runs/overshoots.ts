import { type Model, priceDigest, type ServerTerms } from '#catalog';
import { DatabaseFigures } from '#infrastructure';
import { DatabaseOutage, OvershootRepository } from '#persistence';
import { wholeMicros } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { DatabaseNews } from '../auth/database-news.js';

/** For news that was lost without a lost connection. */
const refreshMs = 60_000;

type Terms = readonly [ServerTerms, ...ServerTerms[]];

/**
 * Lifts the bounds of rows whose provider charged more than their bound, by the factors that workers noted. The
 * database announces each change.
 */
@Injectable()
export class Overshoots extends DatabaseFigures {
  private lifts: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly repository: OvershootRepository,
    private readonly news: DatabaseNews,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    super(outage, refreshMs, 'could not read the lifted bounds of prices');
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    this.news.onOvershoot(() => void this.refresh());
  }

  /** The terms with the lifted bounds. */
  lifted(servers: readonly Model[], terms: Terms): Terms {
    if (this.lifts.size === 0) return terms;
    const [first, ...others] = terms;
    return [this.liftedTerms(servers, first), ...others.map((each) => this.liftedTerms(servers, each))];
  }

  private liftedTerms(servers: readonly Model[], terms: ServerTerms): ServerTerms {
    const row = servers.find(({ id }) => id === terms.server);
    const lift = row && this.lifts.get(keyOf(row.id, priceDigest(row)));
    if (lift === undefined) return terms;
    const { upperMicros, likelyMicros } = terms.price;
    const price = {
      ...terms.price,
      upperMicros: wholeMicros(upperMicros * lift),
      ...(likelyMicros !== undefined && { likelyMicros: wholeMicros(likelyMicros * lift) }),
    };
    return { ...terms, price, lift };
  }

  protected async read(): Promise<void> {
    const rows = await this.repository.lifts();
    this.lifts = new Map(rows.map(({ model, price, lift }) => [keyOf(model, price), lift]));
  }
}

const keyOf = (model: string, price: string): string => `${model} ${price}`;

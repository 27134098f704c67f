import { Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import { ProviderOvershoot } from './entities/operations.entity.js';
import { credentialChannel } from './functions/credential-changes.js';
import { overshootNews } from './functions/overshoot.js';
import { recordAction } from './operator-actions.js';

/** The charges of providers above the bounds of runs, and the factors by which the bounds of the next runs are lifted. */
@Injectable()
export class OvershootRepository {
  constructor(private readonly database: Database) {}

  async lifts(): Promise<Pick<ProviderOvershoot, 'model' | 'price' | 'lift'>[]> {
    return this.database.reads.query('SELECT model, price, lift FROM provider_overshoot', []);
  }

  /** The rows that were noted last come first. */
  async list(): Promise<ProviderOvershoot[]> {
    return this.database.list(
      operators,
      `SELECT model, price, lift, runs, lost_micros::float AS "lostMicros", run_id AS "runId", first_at AS "firstAt", last_at AS "lastAt"
        FROM provider_overshoot ORDER BY last_at DESC, model, price`,
      [],
    );
  }

  /** Forgets those of a model, or all of them, so that its bounds are those of its row again. Returns how many. */
  async clear(model: string | undefined, actor: string): Promise<number> {
    return this.database.transaction(async ({ manager }) => {
      const { affected } = await manager.delete(ProviderOvershoot, model === undefined ? {} : { model });
      await recordAction(manager, { actor, action: 'catalog.clear_overshoot', subject: model ?? 'all' });
      await manager.query('SELECT pg_notify($1, $2)', [credentialChannel, overshootNews]);
      return affected ?? 0;
    });
  }
}

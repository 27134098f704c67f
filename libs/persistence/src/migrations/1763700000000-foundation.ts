import type { MigrationInterface, QueryRunner } from 'typeorm';
import { admit } from '../functions/admit.js';
import { askCancel } from '../functions/ask-cancel.js';
import { claim } from '../functions/claim.js';
import { finish } from '../functions/finish.js';
import { keepOutput } from '../functions/keep-output.js';
import { leave } from '../functions/leave.js';
import { partitions } from '../functions/partitions.js';
import { promote } from '../functions/promote.js';
import { retention } from '../functions/retention.js';
import { routerNow } from '../functions/router-now.js';
import { storedObjects } from '../functions/stored-objects.js';
import { moneyTables, runTables, workspaceTables } from './tables.js';

export class Foundation1763700000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [
      routerNow,
      workspaceTables,
      runTables,
      moneyTables,
      partitions,
      retention,
      storedObjects,
      promote,
      finish,
      admit,
      askCancel,
      claim,
      keepOutput,
      leave,
    ]) {
      await runner.query(statement);
    }
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

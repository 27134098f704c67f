import type { MigrationInterface, QueryRunner } from 'typeorm';
import { registryFunctions } from '../registry/functions.js';
import { registryTables } from '../registry/tables.js';

export class Registry1763800000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(registryTables);
    await runner.query(registryFunctions);
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

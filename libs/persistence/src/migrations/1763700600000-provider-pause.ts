import type { MigrationInterface, QueryRunner } from 'typeorm';
import { providerPause } from '../functions/provider-pause.js';

/** Who asked that a provider be left alone, and until when; `claim` and the polls look here. */
export class ProviderPause1763700600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(providerPause);
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

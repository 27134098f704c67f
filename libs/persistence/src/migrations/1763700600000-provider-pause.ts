import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A provider in this table gets no new submission; `claim` looks here. */
export class ProviderPause1763700600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
CREATE TABLE provider_pause (
  provider text PRIMARY KEY,
  paused_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL
)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

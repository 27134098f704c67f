import type { MigrationInterface, QueryRunner } from 'typeorm';

const processTable = /* sql */ `
-- What each running gateway and worker says about itself. Nothing decides by it: it is for operators to read.
CREATE TABLE process (
  id uuid PRIMARY KEY,
  app text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  catalog_revision text NOT NULL,
  catalog_problem text,
  started_at timestamptz NOT NULL DEFAULT router_now(),
  seen_at timestamptz NOT NULL DEFAULT router_now()
);
`;

export class Processes1763900000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(processTable);
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

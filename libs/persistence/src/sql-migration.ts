import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration whose statements are known before it runs; the database keeps their digest. */
export abstract class SqlMigration implements MigrationInterface {
  abstract readonly name: string;
  protected abstract readonly statements: readonly string[];

  get digest(): string {
    return createHash('sha256').update(this.statements.join('\n')).digest('hex');
  }

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.statements) await runner.query(statement);
    // TypeORM made this table before, and reads other types of rows only.
    await runner.query(`INSERT INTO typeorm_metadata (type, name, value) VALUES ('MIGRATION', $1, $2)`, [
      this.name,
      this.digest,
    ]);
  }

  async down(): Promise<void> {
    throw new Error('Migrations only go forward: restore a backup instead.');
  }
}

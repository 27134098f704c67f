import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '#schemas';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { MigrationProgress } from './migration-progress.js';

/** The compiler does not copy SQL, so sources and build output read the same files. */
export const migrationsFolder = path.join(packageRoot(), 'libs/persistence/src/migrations');

/** A file that begins with this line runs statement by statement, as CREATE INDEX CONCURRENTLY requires. */
const withoutTransaction = '-- without a transaction\n';

/**
 * The longest wait for a lock. Every session that wants the table queues behind a waiting migration, so the
 * migration gives up early and retries.
 */
const lockTimeout = '100ms';

/**
 * Runs before each migration and before functions are created. SECURITY DEFINER functions keep this path. By
 * default temporary tables, which any role can create, would come first in it.
 */
export const schemaFirst = `SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`;

/** A migration from an SQL file. */
export class SqlMigration implements MigrationInterface {
  readonly name: string;
  /** The hex SHA-256 of its statements, which the database stores. */
  readonly digest: string;
  readonly transaction: boolean;
  readonly statements: readonly string[];

  constructor(file: string, text: string) {
    this.name = migrationName(file);
    this.digest = createHash('sha256').update(`${schemaFirst}\n${text}`).digest('hex');
    this.transaction = !text.startsWith(withoutTransaction);
    this.statements = this.transaction
      ? [schemaFirst, text]
      : text.split(/;\n/).filter((each) => each.trim() !== '');
  }

  /** The tables that it changes or creates. */
  get tables(): string[] {
    const text = this.statements.join(';\n').replaceAll(/--.*$/gm, '');
    const changed =
      /\b(?:(?:CREATE|ALTER) TABLE(?: IF NOT EXISTS)?|UPDATE|INSERT INTO|DELETE FROM) ([a-z_]+)/g;
    const tables = text.split(';').flatMap((statement) => {
      const isOnTable = /^\s*CREATE (?:UNIQUE )?(?:INDEX|TRIGGER)\b/.test(statement);
      return [...statement.matchAll(isOnTable ? / ON ([a-z_]+)/g : changed)].map(([, table = '']) => table);
    });
    return [...new Set(tables)].sort();
  }

  async up(runner: QueryRunner): Promise<void> {
    const { progress } = runner.data as { progress?: MigrationProgress };
    await (progress === undefined ? this.run(runner) : progress.watch(this, runner, () => this.run(runner)));
  }

  private async run(runner: QueryRunner): Promise<void> {
    if (this.transaction) await runner.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
    for (const statement of this.statements) await runner.query(statement);
    // TypeORM has created this table already, and reads only other types of rows.
    await runner.query(`INSERT INTO typeorm_metadata (type, name, value) VALUES ('MIGRATION', $1, $2)`, [
      this.name,
      this.digest,
    ]);
  }

  async down(): Promise<void> {
    throw new Error('Migrations cannot be reverted. Restore a backup instead.');
  }
}

/**
 * `1763700000000-initial-schema.sql` becomes `InitialSchema1763700000000`: TypeORM expects the time at the end of a
 * name.
 */
function migrationName(file: string): string {
  const [time = '', ...words] = path.basename(file, '.sql').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + time;
}

/** The files listed in `released.sha256`, oldest first, each as a class for TypeORM. */
export function readMigrations(from = migrationsFolder): (new () => SqlMigration)[] {
  return readFileSync(path.join(from, 'released.sha256'), 'utf8')
    .split('\n')
    .flatMap((line) => line.split('  ')[1] ?? [])
    .map((file) => {
      const text = readFileSync(path.join(from, file), 'utf8');
      return class extends SqlMigration {
        constructor() {
          super(file, text);
        }
      };
    });
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '#schemas';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The compiler copies no SQL: sources and build read the same files. */
export const migrationsFolder = path.join(packageRoot(), 'libs/persistence/src/migrations');

/** A file that begins with this line runs statement by statement, as CREATE INDEX CONCURRENTLY needs. */
const withoutTransaction = '-- without a transaction\n';

/**
 * The longest wait for a lock. Every session that wants the table queues behind a waiting migration, so the migration
 * gives up soon and comes again.
 */
const lockTimeout = '100ms';

/**
 * Runs before a migration, and before functions are made. A function with its owner's rights keeps this path. Temporary
 * tables, which any role can make, would otherwise come first in it.
 */
export const schemaFirst = `SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`;

/** A migration that is a file of SQL. */
export class SqlMigration implements MigrationInterface {
  readonly name: string;
  /** SHA-256 in hex over its statements; the database keeps it. */
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

  async up(runner: QueryRunner): Promise<void> {
    if (this.transaction) await runner.query(`SET LOCAL lock_timeout = '${lockTimeout}'`);
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

/** `1763700000000-initial-schema.sql` is `InitialSchema1763700000000`: TypeORM wants the time at the end of a name. */
function migrationName(file: string): string {
  const [time = '', ...words] = path.basename(file, '.sql').split('-');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + time;
}

/** The files that `released.sha256` lists, oldest first, in the form that TypeORM takes: a class for each. */
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

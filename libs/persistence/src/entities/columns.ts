import { DefaultNamingStrategy, type Table } from 'typeorm';

/** Names in the database: snake case for tables and columns, and Postgres' default names for constraints. */
export class PostgresNames extends DefaultNamingStrategy {
  override tableName(className: string, given?: string): string {
    return given ?? snakeCase(className);
  }

  override columnName(property: string, given?: string): string {
    return given ?? snakeCase(property);
  }

  override uniqueConstraintName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_key`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return `${this.getTableName(table)}_${columns.join('_')}_fkey`;
  }
}

const snakeCase = (name: string): string =>
  name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** Reads a bigint as a number. The largest values are micro-dollars, and 2^53 of these are nine billion dollars. */
const asNumber = {
  to: (value: number | null) => value,
  from: (text: string | null) => (text === null ? null : Number(text)),
};

export const bigint = { type: 'bigint', transformer: asNumber } as const;
export const numeric = { type: 'numeric', transformer: asNumber } as const;

/** A time that defaults to the database's clock. */
export const createdNow = { type: 'timestamptz', default: () => 'router_now()' } as const;

/** Times of the registry have millisecond precision, as in its interface. */
export const milliseconds = { type: 'timestamptz', precision: 3 } as const;

/** Texts used for comparison or sorting. The collation gives the same order on every machine. */
export const sortable = { type: 'text', collation: 'C' } as const;

import type { DataSource } from 'typeorm';
import { registryIndexes } from './indexes.js';
import { inTurn } from './turns.js';

/** What an empty registry can do without until it is filled: to make it at once takes a fifth of keeping it meanwhile. */
interface Part {
  name: string;
  make: string;
  drop: string;
}

const index = ([name, of]: readonly [string, string]): Part => ({
  name,
  make: `CREATE INDEX ${name} ON ${of}`,
  drop: `DROP INDEX IF EXISTS ${name}`,
});

/** True by the way in which nodes are written, so that it need not be asked for each row. */
const reference = (name: string, table: string, definition: string): Part => ({
  name,
  make: `ALTER TABLE ${table} ADD CONSTRAINT ${name} FOREIGN KEY ${definition}`,
  drop: `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${name}`,
});

const parts: readonly Part[] = [
  ...registryIndexes.map(index),
  reference('node_has_publisher', 'node', '(publisher_id) REFERENCES publisher (id)'),
  reference('version_has_node', 'node_version', '(node_id) REFERENCES node (id) ON DELETE CASCADE'),
];

const missingParts = `
  SELECT name FROM unnest($1::text[]) AS name
    WHERE to_regclass(name) IS NULL AND NOT EXISTS (
      SELECT FROM pg_constraint WHERE conname = name AND conrelid IN ('node'::regclass, 'node_version'::regclass))`;

/** How long readers may be kept waiting for the parts to be dropped. */
const dropWithin = '1s';
const lockNotAvailable = '55P03';

/** Leaves the parts where somebody does not let go of the tables. */
export async function dropPartsIfEmpty(dataSource: DataSource): Promise<void> {
  const dropping = inTurn(dataSource, async (manager) => {
    const nodes = await manager.query<unknown[]>('SELECT FROM node LIMIT 1');
    if (nodes.length > 0) return;
    await manager.query(`SET LOCAL lock_timeout = '${dropWithin}'`);
    // In the order in which a reader takes them.
    await manager.query('LOCK TABLE node, node_version, publisher IN ACCESS EXCLUSIVE MODE');
    await manager.query(parts.map(({ drop }) => drop).join(';\n'));
  });
  await dropping.catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== lockNotAvailable) throw error;
  });
}

/** Makes the parts that a first import dropped, also one that never came to its end. */
export async function ensureParts(dataSource: DataSource): Promise<void> {
  await inTurn(dataSource, async (manager) => {
    const names = parts.map(({ name }) => name);
    const found = await manager.query<{ name: string }[]>(missingParts, [names]);
    const missing = new Set(found.map(({ name }) => name));
    for (const { name, make } of parts) if (missing.has(name)) await manager.query(make);
  });
}

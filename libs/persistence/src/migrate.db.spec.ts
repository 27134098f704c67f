import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DataSource, MigrationExecutor } from 'typeorm';
import { waitFor } from '../../../test/harness/wait-for.js';
import { dataSourceOptions } from './data-source.js';
import { functionsRevision } from './functions.js';
import { migrate, schemaIsCurrent } from './migrate.js';
import { readMigrations } from './migrations.js';
import { SpecDatabase } from './testing/spec-database.js';
import { succeeded } from './testing/runs.js';

const [First] = readMigrations();

const opened: DataSource[] = [];
const database = await SpecDatabase.create();
const process = database.process();

/** A migrator of its own with these migrations, on the database of the spec. */
async function migrator(migrations = readMigrations()): Promise<DataSource> {
  const settings = process.database.settings;
  const dataSource = new DataSource({ ...dataSourceOptions(settings), migrations });
  opened.push(dataSource);
  return dataSource.initialize();
}
afterAll(() => Promise.all(opened.map((each) => each.destroy())));

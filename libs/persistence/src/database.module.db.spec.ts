import { describe, expect, it } from '@jest/globals';
import { LOG, Metrics, createLog } from '#observability';
import { readSettings } from '#schemas';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Database } from './database.js';
import { DatabaseModule } from './database.module.js';
import { databaseSettings, retentionSettings } from './settings.js';
import { SpecDatabase } from './testing/spec-database.js';
import { UnknownWorkspace } from './sql-errors.js';
import { WorkspaceRepository } from './workspace.repository.js';

const file = await SpecDatabase.create();

const SETTINGS = Symbol('settings');

/** Starts an app on this database. */
function appOn(url: string) {
  const settings = readSettings(
    { ...databaseSettings, ...retentionSettings },
    { DATABASE_URL: url, DATABASE_ACQUIRE_MS: '20000', DATABASE_STATEMENT_MS: '20000' },
  );
  const providers = [
    { provide: SETTINGS, useValue: settings },
    { provide: LOG, useValue: createLog('spec', 'silent') },
    Metrics,
  ];
  @Module({ providers, exports: providers })
  class SettingsModule {}
  return NestFactory.createApplicationContext(
    DatabaseModule.forRootAsync({
      imports: [SettingsModule],
      inject: [SETTINGS],
      useFactory: (given: typeof settings) => ({ ...given, app: 'spec' }),
    }),
    { logger: false, abortOnError: false },
  );
}

it('provides the repositories, on one pool with the data source, and closes it', async () => {
  const app = await appOn(file.url);
  const dataSource = app.get(DataSource);
  await expect(app.get(WorkspaceRepository).find('nobody')).rejects.toThrow(UnknownWorkspace);
  await app.get(Database).work.query('SELECT 1', []);
  expect(app.get(Database).usage()).toContainEqual({ pool: 'work', busy: 0, idle: 1, waiting: 0 });
  await app.close();
  expect(dataSource.isInitialized).toBe(false);
  await expect(app.get(Database).work.query('SELECT 1', [])).rejects.toMatchObject({
    bucket: 'service_unavailable',
  });
});

describe('startup fails at once', () => {
  it('while the database is down', async () => {
    await expect(appOn('postgres://nobody@127.0.0.1:1/none')).rejects.toThrow(
      /^The database cannot be reached: connect ECONNREFUSED/,
    );
  });

  it('if the schema is not current', async () => {
    const source = await file.process().database.dataSource();
    await source.query('DELETE FROM migrations');
    await expect(appOn(file.url)).rejects.toThrow(
      /^The database schema is not current: run "admin migrate" first\.$/,
    );
  });
});

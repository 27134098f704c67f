import { readSettings } from '#schemas';
import { Module } from '@nestjs/common';
import { type WorkerSettings, workerSettings } from './settings.js';

/** Injects the `WorkerSettings`. */
export const SETTINGS = Symbol('settings');

let parsed: WorkerSettings | undefined;

/** The settings of this process: its environment is parsed once, when they are first needed. Throws `BadSettings`. */
export const processSettings = (): WorkerSettings => (parsed ??= readSettings(workerSettings, process.env));

@Module({ providers: [{ provide: SETTINGS, useFactory: processSettings }], exports: [SETTINGS] })
export class SettingsModule {}

/**
 * How long polls and copies may go on when the worker stops: they are repeated elsewhere at no cost, so a stopping
 * worker does not wait for them as for submissions.
 */
export const repeatableGraceMs = ({ WORKER_CLOSE_MS }: Pick<WorkerSettings, 'WORKER_CLOSE_MS'>): number =>
  Math.min(WORKER_CLOSE_MS, 8_000);

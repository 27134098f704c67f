import { Module } from '@nestjs/common';

/** Injects the settings of the process. A class declares those that it reads; only its app knows them all. */
export const SETTINGS = Symbol('settings');

let provided: object | undefined;

/** Call this once, before Nest creates the app. */
export function provideSettings<Settings extends object>(app: string, settings: Settings): Settings {
  provided = { ...settings, app };
  return settings;
}

@Module({ providers: [{ provide: SETTINGS, useFactory: () => provided }], exports: [SETTINGS] })
export class SettingsModule {}

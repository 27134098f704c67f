import { Module } from '@nestjs/common';
import { type GatewaySettings, readGatewaySettings } from './settings.js';

/** Injects the `GatewaySettings`. */
export const SETTINGS = Symbol('settings');

let parsed: GatewaySettings | undefined;

/** The settings of this process: its environment is parsed once, when they are first needed. Throws `BadSettings`. */
export const processSettings = (): GatewaySettings => (parsed ??= readGatewaySettings(process.env));

@Module({ providers: [{ provide: SETTINGS, useFactory: processSettings }], exports: [SETTINGS] })
export class SettingsModule {}

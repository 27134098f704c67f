import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { SettingsModule } from '../settings.module.js';
import { ReferenceController } from './reference.controller.js';

@Module({ imports: [SettingsModule, DiscoveryModule], controllers: [ReferenceController] })
export class ReferenceModule {}

import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { GatewayModule } from './gateway.module.js';
import { serviceDocument } from './openapi/service-document.js';

/**
 * The service document without a running service: the console's build generates its types from it, and it is linted.
 */
export const readServiceDocument = (baseUrl?: string) =>
  serviceDocument(controllersOf(GatewayModule), baseUrl);

/** The controllers of the module and of all modules that it imports. */
export function controllersOf(module: Type): Type[] {
  const imports: (Type | { module: Type })[] = Reflect.getMetadata(MODULE_METADATA.IMPORTS, module) ?? [];
  const own: Type[] = Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? [];
  return [...new Set([...own, ...imports.flatMap((each) => ('module' in each ? [] : controllersOf(each)))])];
}

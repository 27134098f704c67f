import type { Scope } from '#schemas';
import { Reflector } from '@nestjs/core';

/** The scope that a route asks of its caller's credential. */
export const Access = Reflector.createDecorator<{ scope: Scope }>();

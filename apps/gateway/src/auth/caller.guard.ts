import { RouterError } from '#errors';
import { UnknownWorkspace } from '#persistence';
import type { Scope } from '#schemas';
import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { generationOf } from '../http/origin.js';
import type { Caller } from './caller.js';
import { credentialOf } from './credential.js';
import { Identification } from './identification.js';

/** Lets identified callers pass whose credential is good for the route; it runs before the body is read. */
@Injectable()
class CallerGuard implements CanActivate {
  constructor(
    private readonly identification: Identification,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const scope = this.reflector.get(RequiredScope, context.getHandler());
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const credential = credentialOf(request.headers, generationOf(request));
    const caller = credential && (await this.identification.find(credential));
    // One text for every reason: a caller without a credential learns nothing about which ones exist.
    if (!caller) throw noCredential();
    request.caller = caller;
    if (!caller.enabled) throw notEnabled();
    if (!caller.scopes.includes(scope)) {
      throw new RouterError('forbidden', `This credential lacks the scope "${scope}".`);
    }
    return true;
  }
}

/** Also for a credential whose workspace was deleted while it was still cached. */
export const noCredential = () =>
  new RouterError('unauthorized', 'The request carries no usable credential.');

/** The credential of a workspace that was deleted is known to the cache for a while. */
export const unlessDeleted = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof UnknownWorkspace ? noCredential() : error;
  });

export const notEnabled = () =>
  new RouterError('not_enabled', 'The router is not switched on for this workspace.');

/** The scope that a route requires of its caller's credential. */
export const RequiredScope = Reflector.createDecorator<Scope>();

/** Guards a route: the caller's credential must have the scope. */
export const Access = ({ scope }: { scope: Scope }) =>
  applyDecorators(RequiredScope(scope), UseGuards(CallerGuard));

/** Hands the identified caller to a handler. */
export const Calling = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw new Error('the route has no CallerGuard');
  return caller;
});

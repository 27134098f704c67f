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

/** Admits identified callers whose credential has the route's scope. Runs before the body is read. */
@Injectable()
class CallerGuard implements CanActivate {
  constructor(
    private readonly identification: Identification,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const scope = this.reflector.get(RequiredScope, context.getHandler());
    await identifyCaller(this.identification, context.switchToHttp().getRequest<FastifyRequest>(), scope);
    return true;
  }
}

/** Identifies the caller of a request, and notes it there. Throws unless its credential has the scope. */
export async function identifyCaller(
  identification: Identification,
  request: FastifyRequest,
  scope: Scope,
): Promise<Caller> {
  const credential = credentialOf(request.headers, generationOf(request));
  const caller = credential && (await identification.find(credential));
  // One text for every reason, so that callers cannot find out which credentials exist.
  if (!caller) throw noCredential();
  request.caller = caller;
  if (!caller.enabled) throw notEnabled();
  if (!caller.scopes.includes(scope)) {
    throw new RouterError('forbidden', `This credential lacks the scope "${scope}".`);
  }
  return caller;
}

/** Also thrown for a cached credential whose workspace has been deleted. */
export const noCredential = () =>
  new RouterError('unauthorized', 'The request carries no usable credential.');

/** Answers 401 when the workspace is gone: its credentials stay cached for a while. */
export const unlessDeleted = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof UnknownWorkspace ? noCredential() : error;
  });

export const notEnabled = () =>
  new RouterError('not_enabled', 'The router is not enabled for this workspace.');

/** The scope that a route requires of its caller's credential. */
export const RequiredScope = Reflector.createDecorator<Scope>();

/** Guards a route: the caller's credential must have the scope. */
export const Access = ({ scope }: { scope: Scope }) =>
  applyDecorators(RequiredScope(scope), UseGuards(CallerGuard));

/** Injects the identified caller into a handler. */
export const Calling = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === null) throw new Error('the route has no CallerGuard');
  return caller;
});

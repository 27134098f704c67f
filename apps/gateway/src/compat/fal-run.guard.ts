import { RunReader } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isFalCall } from './fal-calls.js';

/** fal's clients name a run by its id and the first two segments of its model's path: the model is what the run says. */
@Injectable()
export class FalRunGuard implements CanActivate {
  constructor(private readonly runs: RunReader) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { requestId: string } }>>();
    const { caller, params } = request;
    if (caller === null || !isFalCall(request)) return true;
    if (!routerQueueRequestId.safeParse(params.requestId).success) return true;
    const [provider, model] =
      (await this.runs.modelOf(caller.workspaceId, params.requestId))?.split('/') ?? [];
    if (provider !== undefined && model !== undefined) Object.assign(params, { provider, model });
    return true;
  }
}

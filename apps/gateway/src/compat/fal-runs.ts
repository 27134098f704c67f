import { LiveCatalog } from '#catalog';
import { RunReader } from '#persistence';
import { routerQueueRequestId } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { credentialOf } from '../auth/credential.js';
import { Identification } from '../auth/identification.js';
import type { ModelSegments } from '../models/find-model.js';

const runRoute = '/v2/models/:provider/:model/requests/:requestId';

/** fal's clients name a run by its id and the first two segments of its model's path: the run says which model it is. */
@Injectable()
export class FalRuns {
  constructor(
    private readonly identification: Identification,
    private readonly runs: RunReader,
    private readonly catalog: LiveCatalog,
  ) {}

  /** Puts the model's id into the path's parameters. Whatever is wrong with the call is left to its route. */
  async nameModel(request: FastifyRequest): Promise<void> {
    if (!request.routeOptions.url?.startsWith(runRoute)) return;
    const params = request.params as ModelSegments & { requestId: string };
    if (!routerQueueRequestId.safeParse(params.requestId).success) return;
    const credential = credentialOf(request.headers, 'v2');
    const caller = credential && (await this.identification.find(credential));
    if (!caller) return;
    const id = await this.runs.modelOf(caller.workspaceId, params.requestId);
    if (id === null || !this.mayMean(params, id)) return;
    const [provider, model] = id.split('/');
    Object.assign(params, { provider, model });
  }

  /**
   * Whether the path has the first two segments of one of the model's aliases. A removed model matches any path, because
   * its aliases are no longer known.
   */
  private mayMean({ provider, model }: ModelSegments, id: string): boolean {
    const { models, ended } = this.catalog.current;
    const known = [...models, ...ended].find((each) => each.id === id);
    if (known === undefined) return true;
    return known.aliases.some((alias) => `${alias}/`.startsWith(`${provider}/${model}/`));
  }
}

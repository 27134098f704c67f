import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { RequestReader, SharedRunRepository } from '#persistence';
import { routerQueueRequestId, type RouterShare, routerShare } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Header, HttpCode, Inject, Param, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameRun, runIdHeader } from '../answers/run-of-call.js';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { foundRun } from '../runs/found-run.js';
import { tokenOf } from './share-token.js';

const notFound = failure(404, ['invalid_input'], 'The workspace has no run with this id.');

/** Makes and revokes the links of a workspace’s runs. */
@Controller('v2/requests/:requestId/share')
export class SharingController {
  constructor(
    private readonly requests: RequestReader,
    private readonly shares: SharedRunRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Put()
  @Header('cache-control', 'no-store')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ShareRequest',
    area: 'Account',
    summary: 'Share a run by a link',
    description:
      'Anyone with the link sees the model, the input, the output and the times of the run, without an account, until the link is revoked or the result expires or is deleted. Sharing a shared run returns the same link.',
    answers: [
      answer(200, 'The link.', json(routerShare), ['X-Service-Run-Id', 'Cache-Control']),
      notFound,
      failure(409, ['invalid_input'], 'The run has not succeeded.', { headers: ['X-Service-Run-Id'] }),
      failure(410, ['invalid_input'], 'The result has aged out.', { headers: ['X-Service-Run-Id'] }),
    ],
  })
  async share(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Req() { publicOrigin }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RouterShare> {
    const { requestId: runId, model, outcome, isKept } = await this.find(workspaceId, id);
    nameRun(reply, runId);
    if (!isKept) foundRun('aged_out', runId);
    if (outcome !== 'succeeded')
      throw new RouterError('invalid_input', 'The run has not succeeded, so there is no result to share.', {
        status: 409,
        headers: { [runIdHeader]: runId },
      });
    const token = tokenOf(
      await this.shares.share({ workspaceId, runId, model }),
      this.settings.SIGNING_SECRET,
    );
    return { url: `${publicOrigin}/console/shared/${token}`, token };
  }

  @Delete()
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'UnshareRequest',
    area: 'Account',
    summary: 'Revoke the link of a run',
    description:
      'The link ends at once. Links to files that it has shown work until they expire. Has no effect on a run that is not shared.',
    answers: [answer(204, 'The run is not shared.', undefined, ['X-Service-Run-Id']), notFound],
  })
  async unshare(
    @Calling() { workspaceId }: Caller,
    @Param('requestId') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { requestId: runId } = await this.find(workspaceId, id);
    nameRun(reply, runId);
    await this.shares.unshare(workspaceId, runId);
  }

  private async find(workspaceId: string, id: string) {
    const isId = routerQueueRequestId.safeParse(id).success;
    return foundRun(isId ? await this.requests.find(workspaceId, id) : null, id);
  }
}

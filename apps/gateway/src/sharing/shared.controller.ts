import { LiveCatalog } from '#catalog';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { RequestReader, requestView, RunReader, SharedRunRepository } from '#persistence';
import { routerModelInput, type RouterSharedRun, routerSharedRun } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Header, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { KeptRuns } from '../runs/kept-runs.js';
import { RunPayloads } from '../runs/run-payloads.js';
import { shareIdOf } from './share-token.js';

const notFound = failure(404, ['invalid_input'], 'The link is unknown, was revoked, or has expired.');

const noLink = (): RouterError =>
  new RouterError('invalid_input', 'The link is unknown, was revoked, or has expired.', { status: 404 });

/** Shows shared runs to anyone with their link. */
@Controller('v2/shared/:token')
export class SharedController {
  constructor(
    private readonly shares: SharedRunRepository,
    private readonly requests: RequestReader,
    private readonly runs: RunReader,
    private readonly payloads: RunPayloads,
    private readonly kept: KeptRuns,
    private readonly catalog: LiveCatalog,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiRoute({
    name: 'GetSharedRun',
    area: 'Account',
    summary: 'Get a shared run',
    description: 'Needs no credential: the token is one.',
    answers: [answer(200, 'The run.', json(routerSharedRun), ['Cache-Control']), notFound],
  })
  async read(@Param('token') token: string): Promise<RouterSharedRun> {
    const { workspaceId, runId } = await this.find(token);
    const run = await this.requests.find(workspaceId, runId);
    if (run === null || !run.isKept) throw noLink();
    const { model, simulated, created_at, duration_ms = 0, expires_at } = requestView(run);
    const { title, modalities } = this.catalog.current.find(model) ?? {};
    return {
      model,
      ...(title !== undefined && { title }),
      output_modalities: modalities?.out ?? [],
      ...(simulated && { simulated }),
      created_at,
      duration_ms,
      ...(expires_at !== undefined && { expires_at }),
    };
  }

  @Get('input')
  @ApiRoute({
    name: 'GetSharedInput',
    area: 'Account',
    summary: 'Get the input of a shared run',
    description: 'Byte for byte as it was sent.',
    answers: [answer(200, 'The input.', json(routerModelInput), ['Cache-Control']), notFound],
  })
  async input(
    @Param('token') token: string,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { workspaceId, runId } = await this.find(token);
    const input = await this.runs.input(workspaceId, runId, { withBody: method !== 'HEAD' });
    if (input === null || input === 'aged_out') throw noLink();
    await this.payloads.sendOutput(asFile(reply), input);
  }

  @Get('output')
  @ApiRoute({
    name: 'GetSharedOutput',
    area: 'Account',
    summary: 'Get the output of a shared run',
    description: 'With the content type of the provider. Links to files in it work until they expire.',
    answers: [answer(200, 'The output.', { '*/*': null }, ['Cache-Control']), notFound],
  })
  async output(
    @Param('token') token: string,
    @Req() { method }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { workspaceId, runId, model } = await this.find(token);
    const result = await this.runs.result(workspaceId, model, runId, { withBody: method !== 'HEAD' });
    if (result === null || result === 'aged_out') throw noLink();
    await this.payloads.sendOutput(asFile(reply), await this.kept.output(reply, runId, result));
  }

  private async find(token: string) {
    const shareId = shareIdOf(token, this.settings.SIGNING_SECRET);
    const share = shareId && (await this.shares.find(shareId));
    if (!share) throw noLink();
    return share;
  }
}

/** Anyone can open these URLs in a browser, where what a provider sent must never run as a page of this origin. */
const asFile = (reply: FastifyReply): FastifyReply =>
  reply
    .header('cache-control', 'no-store')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('content-disposition', 'attachment');

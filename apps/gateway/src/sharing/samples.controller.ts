import { LiveCatalog } from '#catalog';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { maxSamples, ModelSampleRepository, OperatorReader } from '#persistence';
import { routerQueueRequestId, type RouterSampleList, routerSampleList } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { runIdHeader } from '../answers/run-of-call.js';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { answer, ApiRoute, failure, json, modelNotFound } from '../http/api-route.js';
import { type ModelSegments, visibleModel } from '../models/find-model.js';
import { foundRun } from '../runs/found-run.js';
import { KeptRuns } from '../runs/kept-runs.js';
import { notKept } from '../runs/not-kept.js';
import { tokenOf } from './share-token.js';

const notFound = failure(404, ['invalid_input'], 'There is no such run, or its records have expired.');

/** Runs that operators show to every workspace as samples of their model. */
@Controller('v2')
export class SamplesController {
  constructor(
    private readonly samples: ModelSampleRepository,
    private readonly runs: OperatorReader,
    private readonly kept: KeptRuns,
    private readonly catalog: LiveCatalog,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get('models/:provider/:model/samples')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'ListModelSamples',
    area: 'Catalog',
    summary: 'List the samples of a model',
    description: `Runs that operators chose, newest first: at most ${maxSamples}. \`GET /v2/shared/{token}\` shows each.`,
    answers: [answer(200, 'The samples.', json(routerSampleList), ['Cache-Control']), modelNotFound],
  })
  async list(@Calling() caller: Caller, @Param() segments: ModelSegments): Promise<RouterSampleList> {
    const { id } = visibleModel(this.catalog.current, caller, segments);
    const samples = await this.samples.list(id);
    return {
      data: samples.map(({ shareId, pinnedAt }) => ({
        token: tokenOf(shareId, this.settings.SIGNING_SECRET),
        pinned_at: pinnedAt.toISOString(),
      })),
    };
  }

  @Put('operator/samples/:request_id')
  @HttpCode(204)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorPinSample',
    area: 'Operator',
    summary: 'Pin a run of any workspace as a sample of its model',
    description:
      'Every workspace that may see the model, and anyone with the link, then sees the input and the output, but neither the workspace nor the cost. The run is kept and shared, and is a sample until it is unpinned, deleted, no longer kept or no longer shared. Its files count in the limits of its workspace. Pinning a sample has no effect.',
    answers: [
      answer(204, 'The run is a sample.'),
      failure(
        403,
        ['forbidden'],
        'The credential lacks `operate`, or the workspace of the run does not allow samples.',
        {
          headers: ['X-Service-Run-Id'],
        },
      ),
      notFound,
      failure(
        409,
        ['invalid_input'],
        `The run has not succeeded, its workspace keeps results for a limited time only, or the model has ${maxSamples} samples.`,
        { headers: ['X-Service-Run-Id'] },
      ),
      failure(410, ['invalid_input'], 'The result has aged out.', { headers: ['X-Service-Run-Id'] }),
      failure(
        429,
        ['concurrency_limit_exceeded'],
        'The workspace of the run has reached its limit of files, or of bytes in files.',
        { headers: ['X-Service-Run-Id'] },
      ),
    ],
  })
  async pin(@Calling() { credential }: Caller, @Param('request_id') id: string): Promise<void> {
    const run = await this.find(id);
    const { requestId: runId } = run;
    const pinned = await this.samples.pin(run, await this.kept.objectsOf(runId), credential);
    const { result, maxAllowed } = foundRun(pinned, runId);
    if (result === 'expired') foundRun('aged_out', runId);
    else if (result === 'not_allowed')
      throw new RouterError(
        'forbidden',
        'The workspace of the run does not allow samples. Its setting allow_samples must be true.',
        { headers: { [runIdHeader]: runId } },
      );
    else if (result === 'samples')
      throw new RouterError(
        'invalid_input',
        `The model has ${maxSamples} samples, which is the limit. Unpin one of them first.`,
        { status: 409, headers: { [runIdHeader]: runId } },
      );
    else if (result !== 'kept') throw notKept({ result, maxAllowed }, runId);
  }

  @Delete('operator/samples/:request_id')
  @HttpCode(204)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorUnpinSample',
    area: 'Operator',
    summary: 'Unpin a sample',
    description:
      'Also revokes the link of the run, because every workspace may know it. The run stays kept. Has no effect on a run that is not a sample.',
    answers: [answer(204, 'The run is not a sample.'), notFound],
  })
  async unpin(@Calling() { credential }: Caller, @Param('request_id') id: string): Promise<void> {
    await this.samples.unpin((await this.find(id)).requestId, credential);
  }

  private async find(id: string) {
    const isId = routerQueueRequestId.safeParse(id).success;
    return foundRun(isId ? await this.runs.find(id) : null, id);
  }
}

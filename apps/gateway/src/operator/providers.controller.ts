import { didYouMean, LiveCatalog } from '#catalog';
import { RouterError } from '#errors';
import {
  attemptExamplesView,
  AttemptRepository,
  ProviderCheckRepository,
  providerCheckView,
  ProviderPauseRepository,
  ProviderReader,
  type ProviderState,
  providerView,
} from '#persistence';
import {
  type OperatorAttemptExamples,
  operatorAttemptExamples,
  type OperatorProvider,
  operatorPauseInput,
  operatorProvider,
  type OperatorProviderCheck,
  operatorProviderCheck,
  operatorProviderListResponse,
} from '#schemas';
import { Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const unknownProvider = failure(
  404,
  ['invalid_input'],
  'There is no such provider; `detail` suggests similar names.',
);

const maxExamples = 5;

@Controller('v2/operator/providers')
export class OperatorProvidersController {
  constructor(
    private readonly reader: ProviderReader,
    private readonly pauses: ProviderPauseRepository,
    private readonly attempts: AttemptRepository,
    private readonly checks: ProviderCheckRepository,
    private readonly catalog: LiveCatalog,
    private readonly bodies: BodyReader,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListProviders',
    area: 'Operator',
    summary: 'List the providers, with their keys, pauses, load and outcomes',
    answers: [answer(200, 'All providers.', json(operatorProviderListResponse))],
  })
  async list(): Promise<{ data: OperatorProvider[] }> {
    const { models } = this.catalog.current;
    return { data: (await this.states()).map((state) => providerView(state, models)) };
  }

  @Get(':provider')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorGetProvider',
    area: 'Operator',
    summary: 'Get a provider',
    answers: [answer(200, 'The provider in its current state.', json(operatorProvider)), unknownProvider],
  })
  async read(@Param('provider') provider: string): Promise<OperatorProvider> {
    return this.find(provider);
  }

  @Get(':provider/attempts')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListProviderAttempts',
    area: 'Operator',
    summary: 'Show recent calls of a provider that failed',
    description: 'Examples of what the provider answers, as long as the results of their runs are kept.',
    answers: [answer(200, 'The newest examples.', json(operatorAttemptExamples)), unknownProvider],
  })
  async examples(@Param('provider') provider: string): Promise<OperatorAttemptExamples> {
    await this.find(provider);
    return attemptExamplesView(await this.attempts.newestOf(provider, maxExamples));
  }

  @Post(':provider/check')
  @HttpCode(200)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorCheckProvider',
    area: 'Operator',
    summary: 'Check our key of a provider',
    description:
      'A worker that has the key makes a call that costs nothing, if one is known for the provider. Answers within 15 seconds. Simultaneous checks share one call.',
    answers: [answer(200, 'The result.', json(operatorProviderCheck)), unknownProvider],
  })
  async check(@Param('provider') provider: string): Promise<OperatorProviderCheck> {
    await this.find(provider);
    const { providers } = this.catalog.current;
    const hasCheck = providers.some(({ name, check }) => name === provider && check !== undefined);
    return providerCheckView(provider, await this.checks.check(provider, hasCheck));
  }

  @Post(':provider/pause')
  @HttpCode(200)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorPauseProvider',
    area: 'Operator',
    summary: 'Pause submissions to a provider',
    description:
      'The pause lasts until it is ended. Waiting runs keep their place; runs in progress are still polled. A second pause replaces the reason. The caller is recorded.',
    body: operatorPauseInput,
    answers: [
      answer(200, 'The provider is paused.', json(operatorProvider)),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      unknownProvider,
    ],
  })
  async pause(
    @Calling() { workspaceId, credential }: Caller,
    @Param('provider') provider: string,
    @Req() request: FastifyRequest,
  ): Promise<OperatorProvider> {
    const { reason } = await this.bodies.readObject(request.raw, workspaceId, operatorPauseInput);
    await this.find(provider);
    await this.pauses.pause(provider, reason, credential);
    return this.find(provider);
  }

  @Delete(':provider/pause')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorResumeProvider',
    area: 'Operator',
    summary: 'End all pauses of a provider',
    description:
      'Also ends pauses that the provider requested. Waiting runs start within seconds. Has no effect on a provider that is not paused.',
    answers: [answer(200, 'The provider is not paused.', json(operatorProvider)), unknownProvider],
  })
  async resume(
    @Calling() { credential }: Caller,
    @Param('provider') provider: string,
  ): Promise<OperatorProvider> {
    await this.find(provider);
    await this.pauses.resume(provider, credential);
    return this.find(provider);
  }

  private states(): Promise<ProviderState[]> {
    return this.reader.list(this.catalog.current.providers.map(({ name }) => name));
  }

  private async find(provider: string): Promise<OperatorProvider> {
    const states = await this.states();
    const found = states.find((state) => state.provider === provider);
    if (found) return providerView(found, this.catalog.current.models);
    const known = states.map((state) => state.provider);
    throw new RouterError('invalid_input', `There is no such provider.${didYouMean(provider, known)}`, {
      status: 404,
    });
  }
}

import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { type BudgetRefusal, BudgetRepository, budgetUseView, budgetView } from '#persistence';
import {
  maxBudgets,
  type Page,
  type RouterBudget,
  routerBudget,
  routerBudgetInput,
  routerBudgetListResponse,
  routerBudgetName,
  type RouterBudgetValue,
  routerBudgetValueListResponse,
  webhookProblem,
  type WebhookSettings,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, HttpCode, Inject, Param, Put, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling, unlessDeleted } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';

const refusals = {
  time_zone: () => new RouterError('invalid_input', 'time_zone: must be a time zone such as Europe/Berlin.'),
  key: () => new RouterError('invalid_input', 'value: must be the id of a key of the workspace.'),
  too_many: () =>
    new RouterError(
      'invalid_input',
      `The workspace has ${maxBudgets} budgets, which is the maximum; delete one first.`,
    ),
} satisfies Record<BudgetRefusal, () => RouterError>;

const unknown = failure(404, ['invalid_input'], 'The workspace has no such budget.');

/** The budgets of a workspace. */
@Controller('v2/budgets')
export class BudgetsController {
  constructor(
    private readonly budgets: BudgetRepository,
    private readonly bodies: BodyReader,
    @Inject(SETTINGS) private readonly settings: SigningSettings & WebhookSettings,
  ) {}

  @Get()
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ListBudgets',
    area: 'Account',
    summary: 'List the budgets of the workspace',
    description: 'By name, each with what its present window has used.',
    answers: [answer(200, 'The budgets.', json(routerBudgetListResponse))],
  })
  async list(@Calling() { workspaceId }: Caller): Promise<{ data: RouterBudget[] }> {
    return { data: (await this.budgets.list(workspaceId)).map(budgetView) };
  }

  @Get(':name')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'GetBudget',
    area: 'Account',
    summary: 'Get a budget of the workspace',
    answers: [answer(200, 'The budget.', json(routerBudget)), unknown],
  })
  read(@Calling() { workspaceId }: Caller, @Param('name') name: string): Promise<RouterBudget> {
    return this.found(workspaceId, name);
  }

  @Get(':name/values')
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'ListBudgetValues',
    area: 'Account',
    summary: 'List what each value of a budget has used',
    description:
      'The keys, end users or tag values of the runs of the present window, in their order. Continue with `next_cursor` while `has_more` is true.',
    query: pageQuery,
    answers: [
      answer(200, 'One page.', json(routerBudgetValueListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired.'),
      unknown,
    ],
  })
  async values(
    @Calling() { workspaceId }: Caller,
    @Param('name') name: string,
    @Query(new QueryPipe(pageQuery)) query: z.output<typeof pageQuery>,
  ): Promise<Page<RouterBudgetValue>> {
    await this.found(workspaceId, name);
    return listPage(query, 'budget-values', this.settings, {
      read: (page) => this.budgets.values(workspaceId, name, page),
      placeOf: ({ value }) => value,
      entryOf: budgetUseView,
    });
  }

  @Put(':name')
  @HttpCode(200)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'SetBudget',
    area: 'Account',
    summary: 'Create or replace a budget',
    description:
      'Applies to the next run. What the present window has used stays counted, unless the scope or the value changes. Runs that were admitted before the budget existed do not count.',
    body: routerBudgetInput,
    answers: [
      answer(200, 'The budget.', json(routerBudget)),
      failure(
        400,
        ['invalid_input'],
        `The name or the body is malformed, the time zone or the key is unknown, raises overlap, or the workspace has ${maxBudgets} budgets.`,
      ),
    ],
  })
  async set(
    @Calling() { workspaceId, credential }: Caller,
    @Param('name') name: string,
    @Req() request: FastifyRequest,
  ): Promise<RouterBudget> {
    const [issue] = routerBudgetName.safeParse(name).error?.issues ?? [];
    if (issue) throw new RouterError('invalid_input', `The name of the budget ${issue.message}.`);
    const input = await this.bodies.readObject(request.raw, workspaceId, routerBudgetInput);
    const problem =
      input.webhook_url === undefined
        ? null
        : webhookProblem(input.webhook_url, this.settings.WEBHOOK_ALLOWED_ORIGINS);
    if (problem !== null) throw new RouterError('invalid_input', `webhook_url ${problem}.`);
    const set = await unlessDeleted(this.budgets.set(workspaceId, name, input, credential));
    if ('refused' in set) throw refusals[set.refused]();
    return this.found(workspaceId, name);
  }

  @Delete(':name')
  @HttpCode(204)
  @Access({ scope: 'manage' })
  @ApiRoute({
    name: 'DeleteBudget',
    area: 'Account',
    summary: 'Delete a budget',
    description: 'It no longer counts or refuses runs.',
    answers: [answer(204, 'The budget is deleted.'), unknown],
  })
  async delete(@Calling() { workspaceId, credential }: Caller, @Param('name') name: string): Promise<void> {
    const isFound = isName(name) && (await unlessDeleted(this.budgets.delete(workspaceId, name, credential)));
    if (!isFound) throw noBudget();
  }

  private async found(workspaceId: string, name: string): Promise<RouterBudget> {
    const [budget] = isName(name) ? await this.budgets.list(workspaceId, name) : [];
    if (!budget) throw noBudget();
    return budgetView(budget);
  }
}

const isName = (name: string): boolean => routerBudgetName.safeParse(name).success;

const noBudget = (): RouterError =>
  new RouterError('invalid_input', 'There is no such budget.', { status: 404 });

import { SETTINGS } from '#infrastructure';
import { type WorkspaceChange, WorkspaceRepository, workspaceView } from '#persistence';
import { RunQueues } from '#queue';
import {
  microsFromCents,
  oneLine,
  type OperatorWorkspace,
  operatorWorkspace,
  operatorWorkspaceChange,
  type Page,
  operatorWorkspaceListResponse,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Param, Patch, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { listPage, once, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { unknownWorkspace } from './unknown-workspace.js';

const workspaceQuery = pageQuery.extend({
  q: oneLine(once().max(200))
    .optional()
    .meta({ description: 'Only workspaces whose name contains this text, or whose id is this text.' }),
});
const workspaceNotFound = failure(
  404,
  ['invalid_input'],
  'There is no such workspace; `detail` suggests similar names.',
);

@Controller('v2/operator/workspaces')
export class OperatorWorkspacesController {
  constructor(
    private readonly workspaces: WorkspaceRepository,
    private readonly bodies: BodyReader,
    private readonly queues: RunQueues,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListWorkspaces',
    area: 'Operator',
    summary: 'List all workspaces, with their limits, current use, credits and spend of today',
    query: workspaceQuery,
    answers: [
      answer(200, 'One page.', json(operatorWorkspaceListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired.'),
    ],
  })
  list(
    @Query(new QueryPipe(workspaceQuery)) { q, ...query }: z.output<typeof workspaceQuery>,
  ): Promise<Page<OperatorWorkspace>> {
    return listPage(query, 'workspaces', this.settings, {
      read: (page) => this.workspaces.states(q, page),
      placeOf: ({ name }) => name,
      entryOf: workspaceView,
    });
  }

  @Get(':workspace')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorGetWorkspace',
    area: 'Operator',
    summary: 'Get a workspace',
    answers: [answer(200, 'The workspace in its current state.', json(operatorWorkspace)), workspaceNotFound],
  })
  async read(@Param('workspace') name: string): Promise<OperatorWorkspace> {
    return this.find(name);
  }

  @Patch(':workspace')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorChangeWorkspace',
    area: 'Operator',
    summary: 'Change the limits, credits, markup or entitlements of a workspace',
    description:
      'Applies all changes or none. They take effect immediately, also for waiting runs. The change and the caller are recorded.',
    body: operatorWorkspaceChange,
    answers: [
      answer(200, 'The changed workspace.', json(operatorWorkspace)),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      workspaceNotFound,
    ],
  })
  async change(
    @Calling() { workspaceId, credential }: Caller,
    @Param('workspace') name: string,
    @Req() request: FastifyRequest,
  ): Promise<OperatorWorkspace> {
    const body = await this.bodies.readObject(request.raw, workspaceId, operatorWorkspaceChange);
    const { id } = await this.find(name);
    const { granted } = await this.workspaces.change(id, changeOf(body), credential);
    await this.queues.passOn(granted);
    return this.find(id);
  }

  private async find(nameOrId: string): Promise<OperatorWorkspace> {
    const state = await this.workspaces.state(nameOrId);
    if (state) return workspaceView(state);
    throw await unknownWorkspace(this.workspaces, nameOrId);
  }
}

/** Leaves out fields that are not given, so that their columns stay unchanged. */
function changeOf(body: z.output<typeof operatorWorkspaceChange>): WorkspaceChange {
  const { limits = {}, credits_cents, add_credits_cents, note, own_key_fee, ...others } = body;
  const {
    allow_provider_tools: allowProviderTools,
    required_tags: requiredTags,
    requires_user: requiresUser,
    ...facts
  } = others;
  const { committed_spend_cents, overdraft_cents } = limits;
  const change = {
    ...facts,
    allowProviderTools,
    requiredTags,
    requiresUser,
    ownKeyFee: own_key_fee,
    note,
    inflightLimit: limits.inflight,
    committedLimitMicros: committed_spend_cents && microsFromCents(committed_spend_cents),
    overdraftLimitMicros: overdraft_cents && microsFromCents(overdraft_cents),
    backlogLimit: limits.backlog,
    windowLimit: limits.runs_per_minute,
    fileLimit: limits.files,
    fileBytesLimit: limits.file_bytes,
    balanceMicros: credits_cents && microsFromCents(credits_cents),
    addedMicros: add_credits_cents && microsFromCents(add_credits_cents),
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

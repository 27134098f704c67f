import { SETTINGS } from '#infrastructure';
import { OperatorActionReader, placeOfAction, WorkspaceRepository } from '#persistence';
import {
  oneLine,
  operatorActions,
  type OperatorActionView,
  operatorAuditListResponse,
  type Page,
} from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Get, Inject, Query } from '@nestjs/common';
import { z } from 'zod';
import { Access } from '../auth/caller.guard.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { listPage, momentQuery, once, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { unknownWorkspace } from './unknown-workspace.js';

const filter = (description: string) =>
  oneLine(once().min(1, 'must not be empty').max(300, 'must have at most 300 characters'))
    .optional()
    .meta({ description });

const auditQuery = pageQuery.extend({
  actor: filter('Only actions whose actor contains this text, in upper or lower case.'),
  action: z
    .enum(operatorActions, `must be one of ${operatorActions.join(', ')}`)
    .optional()
    .meta({ description: 'Only this action.' }),
  subject: filter('Only actions with this subject: a name, the id of a key or run, or the prefix of a key.'),
  workspace: filter('Only actions that concern this workspace, by name or id. It may be deleted.'),
  since: momentQuery('Only actions at or after this time.'),
  until: momentQuery('Only actions before this time.'),
});

@Controller('v2/operator/audit')
export class OperatorAuditController {
  constructor(
    private readonly actions: OperatorActionReader,
    private readonly workspaces: WorkspaceRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListActions',
    area: 'Operator',
    summary: 'List the actions of operators, and the changes of keys and sign-in links',
    query: auditQuery,
    answers: [
      answer(200, 'One page.', json(operatorAuditListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired, or a filter is invalid.'),
      failure(404, ['invalid_input'], 'There is no such workspace; `detail` suggests similar names.'),
    ],
  })
  async list(
    @Query(new QueryPipe(auditQuery)) query: z.output<typeof auditQuery>,
  ): Promise<Page<OperatorActionView>> {
    const { workspace } = query;
    if (workspace !== undefined && !(await this.everExisted(workspace)))
      throw await unknownWorkspace(this.workspaces, workspace);
    return listPage(query, 'actions', this.settings, {
      read: (page) => this.actions.page(query, page),
      placeOf: placeOfAction,
      entryOf: (action) => action,
    });
  }

  private async everExisted(nameOrId: string): Promise<boolean> {
    if ((await this.workspaces.state(nameOrId)) !== null) return true;
    return (await this.workspaces.deleted(nameOrId)).length > 0;
  }
}

import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import {
  keyView,
  type NewCode,
  OnboardingRepository,
  WorkspaceExists,
  WorkspaceRepository,
  workspaceView,
} from '#persistence';
import {
  microsFromCents,
  firstKeyName,
  operatorNewWorkspace,
  type OperatorOpenedWorkspace,
  operatorOpenedWorkspace,
  operatorSignInLinkInput,
  type RouterSignInLink,
  routerSignInLink,
  type signInLinkSettings,
  signInUrl,
} from '#schemas';
import { Controller, Header, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { unknownWorkspace } from './unknown-workspace.js';

type LinkSettings = z.infer<z.ZodObject<typeof signInLinkSettings>>;

/** Routes by which operators take on customers: they create workspaces with a first key, and sign-in links. */
@Controller('v2/operator/workspaces')
export class OperatorOnboardingController {
  constructor(
    private readonly onboarding: OnboardingRepository,
    private readonly workspaces: WorkspaceRepository,
    private readonly bodies: BodyReader,
    @Inject(SETTINGS) private readonly settings: LinkSettings,
  ) {}

  @Post()
  @Header('cache-control', 'no-store')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorOpenWorkspace',
    area: 'Operator',
    summary: 'Create a workspace with its first key and a sign-in link',
    description:
      'All or nothing. The link belongs to the key: its session has the scopes of the key and ends with it. It works once, for `SIGN_IN_LINK_HOURS`. The key and the link are shown only once, and the caller is recorded.',
    body: operatorNewWorkspace,
    answers: [
      answer(201, 'The workspace, its key and the link.', json(operatorOpenedWorkspace), ['Cache-Control']),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      failure(409, ['invalid_input'], 'There is already a workspace with this name.'),
    ],
  })
  async open(
    @Calling() { workspaceId, credential }: Caller,
    @Req() { raw, publicOrigin }: FastifyRequest,
  ): Promise<OperatorOpenedWorkspace> {
    const { name, credits_cents, key } = await this.bodies.readObject(raw, workspaceId, operatorNewWorkspace);
    const customer = {
      name,
      settings: {},
      creditsMicros: credits_cents === null ? null : microsFromCents(credits_cents),
      key: { name: key.name ?? firstKeyName, scopes: [...new Set(key.scopes)], expiresAt: null },
      linkSeconds: this.linkSeconds,
    };
    const opened = await this.onboarding.open(customer, credential).catch((error: unknown) => {
      throw error instanceof WorkspaceExists
        ? new RouterError('invalid_input', `There is already a workspace "${name}".`, { status: 409 })
        : error;
    });
    const state = await this.workspaces.state(opened.workspaceId);
    if (state === null) throw new Error('the new workspace was deleted at once');
    return {
      workspace: workspaceView(state),
      key: { ...keyView(opened.key.row), key: opened.key.key },
      sign_in_link: linkView(opened.link, publicOrigin),
    };
  }

  @Post(':workspace/sign-in-links')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorCreateSignInLink',
    area: 'Operator',
    summary: 'Create a sign-in link for a customer',
    description:
      'The link works once, for `SIGN_IN_LINK_HOURS`. Its session lasts up to 12 hours and ends with the key that the link belongs to. The caller is recorded.',
    body: operatorSignInLinkInput,
    answers: [
      answer(201, 'The link.', json(routerSignInLink), ['Cache-Control']),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      failure(404, ['invalid_input'], 'There is no such workspace; `detail` suggests similar names.'),
      failure(
        409,
        ['invalid_input'],
        'The workspace has no such live key, the key lacks a scope, or the workspace has too many keys.',
      ),
    ],
  })
  async createLink(
    @Calling() { workspaceId, credential }: Caller,
    @Param('workspace') nameOrId: string,
    @Req() { raw, publicOrigin }: FastifyRequest,
  ): Promise<RouterSignInLink> {
    const { key_id, scopes } = await this.bodies.readObject(raw, workspaceId, operatorSignInLinkInput);
    const workspace = await this.workspaces.state(nameOrId);
    if (workspace === null) throw await unknownWorkspace(this.workspaces, nameOrId);
    const facts = { key: key_id, scopes: scopes && [...new Set(scopes)], linkSeconds: this.linkSeconds };
    const link = await this.onboarding.link(workspace.id, facts, credential);
    if ('refused' in link) throw new RouterError('invalid_input', link.refused, { status: 409 });
    return linkView(link, publicOrigin);
  }

  private get linkSeconds(): number {
    return this.settings.SIGN_IN_LINK_HOURS * 3600;
  }
}

const linkView = ({ code, row, expiresAt }: NewCode, publicOrigin: string): RouterSignInLink => ({
  url: signInUrl(publicOrigin, code),
  code,
  expires_at: expiresAt.toISOString(),
  id: row.id,
  scopes: row.scopes,
});

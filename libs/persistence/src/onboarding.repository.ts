import { sessionScopes, workspaceScopes } from '#schemas';
import { Injectable } from '@nestjs/common';
import {
  ApiKeyRepository,
  KeyRefused,
  type KeyRow,
  type NewCode,
  type NewKeyFacts,
} from './api-key.repository.js';
import { Database } from './database.js';
import { openWorkspace, type WorkspaceLimits, type WorkspaceSettings } from './workspace.repository.js';

interface NewCustomer {
  name: string;
  settings: WorkspaceSettings & WorkspaceLimits;
  /** Null for unlimited credits. */
  creditsMicros: number | null;
  key: NewKeyFacts;
  /** How long the sign-in link works. */
  linkSeconds: number;
}

interface Onboarded {
  workspaceId: string;
  key: { key: string; row: KeyRow };
  link: NewCode;
}

interface LinkFacts {
  /** The id or prefix of the key that the link belongs to. */
  key?: string | undefined;
  /** By default those of the key or, without a key, all except `manage`. */
  scopes?: string[] | undefined;
  linkSeconds: number;
}

/** A link has the tags of its key and no others, so it is never refused because of tags. */
type LinkRefusal =
  | 'unknown_key'
  | 'lacks_scope'
  | Exclude<KeyRefused['reason'], 'contradicts_tags' | 'too_many_tags' | 'not_made_by_caller'>;

/** Why a link is not made. Operators of the API get these texts. */
export const linkRefusals: Record<LinkRefusal, string> = {
  unknown_key: 'The workspace has no such live API key.',
  lacks_scope: 'The link cannot have a scope that its key lacks.',
  caller_ended: 'The key of the link has just been revoked or has expired.',
  outlives_maker: 'The key of the link expires too early.',
  too_many_makers: 'The key of the link was made by too long a chain of keys; use one that an operator made.',
  too_many_a_day:
    'The workspace has made too many keys and links within 24 hours; leave out the key of the link.',
  too_many: 'The workspace has too many keys, sessions and links; revoke some.',
};

/** Operators take on customers with it: it makes workspaces with a first key, and sign-in links. */
@Injectable()
export class OnboardingRepository {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeyRepository,
  ) {}

  /**
   * Creates a workspace, its first key and a sign-in link in one transaction, each with its record. The link belongs to
   * the key: its session has the key's scopes and ends with the key. Throws `WorkspaceExists`.
   */
  async open(
    { name, settings, creditsMicros, key, linkSeconds }: NewCustomer,
    actor: string,
  ): Promise<Onboarded> {
    return this.database.transaction(async (transaction) => {
      const workspaceId = await openWorkspace(transaction, name, settings, creditsMicros, actor);
      const first = await this.keys.create(workspaceId, key, { actor }, { transaction });
      const link = await this.keys.createCode(
        workspaceId,
        key.scopes,
        { actor, keyId: first.row.id },
        { lifetimeSeconds: linkSeconds, transaction },
      );
      return { workspaceId, key: first, link };
    });
  }

  /**
   * Creates a sign-in link for a customer. With a key (its id or prefix), the link belongs to the key, has its scopes or
   * some of them, and ends with it. Without one, it belongs to the workspace. Throws `UnknownWorkspace`.
   */
  async link(
    workspaceId: string,
    { key: idOrPrefix, scopes: wanted, linkSeconds }: LinkFacts,
    actor: string,
  ): Promise<NewCode | { refused: string }> {
    const key = idOrPrefix === undefined ? undefined : await this.keys.find(idOrPrefix);
    if (
      key === null ||
      (key && (key.workspaceId !== workspaceId || key.kind !== 'key' || key.state !== 'live'))
    )
      return { refused: linkRefusals.unknown_key };
    const possible: readonly string[] = workspaceScopes.filter(
      (scope) => key?.scopes.includes(scope) ?? true,
    );
    const scopes = wanted ?? (key ? [...possible] : sessionScopes);
    if (scopes.length === 0 || !scopes.every((scope) => possible.includes(scope)))
      return { refused: linkRefusals.lacks_scope };
    const making = { lifetimeSeconds: linkSeconds };
    return this.keys
      .createCode(workspaceId, scopes, { actor, keyId: key?.id ?? null }, making)
      .catch((error: unknown) => {
        if (error instanceof KeyRefused && error.reason in linkRefusals)
          return { refused: linkRefusals[error.reason as LinkRefusal] };
        throw error;
      });
  }
}

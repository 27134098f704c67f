import { isOneLine, isUuid } from '#schemas';
import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { Database, operators, type Transaction } from './database.js';
import { Budget } from './entities/budget.entity.js';
import { IdempotencyKey, KeptRun, Outbox, StoredObject, Webhook } from './entities/run.entity.js';
import { ApiKey, OwnKeyRow, Workspace } from './entities/workspace.entity.js';
import { recordAction } from './operator-actions.js';
import type { Granted } from './run-facts.js';
import { UnknownWorkspace } from './sql-errors.js';

export type WorkspaceSettings = Partial<
  Pick<
    Workspace,
    | 'enabled'
    | 'visible'
    | 'runnable'
    | 'markup'
    | 'ownKeyFee'
    | 'reservation'
    | 'resultRetentionSeconds'
    | 'allowSamples'
    | 'allowProviderTools'
    | 'requiredTags'
    | 'requiresUser'
  >
>;

export type WorkspaceLimits = Partial<
  Pick<
    Workspace,
    | 'inflightLimit'
    | 'committedLimitMicros'
    | 'backlogLimit'
    | 'windowLimit'
    | 'overdraftLimitMicros'
    | 'fileLimit'
    | 'fileBytesLimit'
  >
>;

export interface WorkspaceChange extends WorkspaceSettings, WorkspaceLimits {
  /** Null for unlimited credits. */
  balanceMicros?: number | null;
  /** Credits to add, or to take back if negative. Unlimited credits become limited. */
  addedMicros?: number;
  /** Why the balance changes. */
  note?: string;
}

/** The terms say what a workspace allows and demands. */
export type WorkspaceTerms = Pick<
  Workspace,
  'allowSamples' | 'allowProviderTools' | 'requiredTags' | 'requiresUser'
>;

/**
 * The limits of a workspace and their current use. Amounts are micro-dollars. `windowCount` is the number of runs
 * admitted in the current minute of the database's clock.
 */
export type WorkspaceStanding = WorkspaceTerms &
  Pick<
    Workspace,
    | 'inflight'
    | 'inflightLimit'
    | 'committedMicros'
    | 'committedLimitMicros'
    | 'backlog'
    | 'backlogLimit'
    | 'windowCount'
    | 'windowLimit'
    | 'balanceMicros'
    | 'heldMicros'
    | 'overdraftLimitMicros'
    | 'reservation'
    | 'markup'
    | 'ownKeyFee'
  >;

const standingColumns = `inflight, inflight_limit AS "inflightLimit", committed_micros::float AS "committedMicros",
  committed_limit_micros::float AS "committedLimitMicros", backlog, backlog_limit AS "backlogLimit",
  CASE WHEN is_current_window(window_started_at, date_trunc('minute', router_now())) THEN window_count ELSE 0 END AS "windowCount",
  window_limit AS "windowLimit", balance_micros::float AS "balanceMicros", held_micros::float AS "heldMicros",
  overdraft_limit_micros::float AS "overdraftLimitMicros", reservation,
  markup::float AS markup, own_key_fee::float AS "ownKeyFee",
  allow_samples AS "allowSamples", allow_provider_tools AS "allowProviderTools", required_tags AS "requiredTags", requires_user AS "requiresUser"`;

/** A workspace with its limits, their current use, and its spend since midnight UTC. */
export interface WorkspaceState
  extends
    WorkspaceStanding,
    Pick<
      Workspace,
      'id' | 'name' | 'enabled' | 'visible' | 'runnable' | 'createdAt' | 'resultRetentionSeconds'
    >,
    Pick<Workspace, 'fileLimit' | 'fileBytesLimit'> {
  files: number;
  fileBytes: number;
  runsToday: number;
  succeededToday: number;
  billedMicrosToday: number;
}

const workspaceStates = `SELECT id, name, enabled, visible, runnable, created_at AS "createdAt", ${standingColumns},
    result_retention_seconds AS "resultRetentionSeconds",
    file_limit AS "fileLimit", file_bytes_limit::float AS "fileBytesLimit", uploads.*, today.*
  FROM workspace, LATERAL (
    SELECT count(*)::integer AS files, coalesce(sum(bytes), 0)::float AS "fileBytes"
    FROM stored_object WHERE workspace_id = workspace.id AND NOT deleting AND delete_at > router_statement_now()
  ) AS uploads, LATERAL (
    SELECT count(*)::float AS "runsToday", count(*) FILTER (WHERE outcome = 'succeeded')::float AS "succeededToday",
      coalesce(sum(billed_micros), 0)::float AS "billedMicrosToday"
    FROM audit_record
    WHERE workspace_id = workspace.id AND completed_at >= date_trunc('day', router_statement_now(), 'UTC')
  ) AS today`;

const setBalance = `WITH before AS (
    SELECT id, balance_micros FROM workspace WHERE id = $1 FOR NO KEY UPDATE
  ), changed AS (
    UPDATE workspace SET balance_micros = $2::bigint FROM before
    WHERE workspace.id = before.id AND before.balance_micros IS DISTINCT FROM $2::bigint
    RETURNING workspace.id, coalesce($2::bigint, 0) - coalesce(before.balance_micros, 0) AS difference
  )
  INSERT INTO ledger_entry (workspace_id, amount_micros, balance_micros, note)
  SELECT id, difference, $2::bigint, $3 FROM changed`;

const addToBalance = `WITH changed AS (
    UPDATE workspace SET balance_micros = coalesce(balance_micros, 0) + $2 WHERE id = $1 RETURNING id, balance_micros
  )
  INSERT INTO ledger_entry (workspace_id, amount_micros, balance_micros, note)
  SELECT id, $2, balance_micros, $3 FROM changed`;

/** Thrown when the name of a new workspace is taken. */
export class WorkspaceExists extends Error {
  constructor(readonly workspace: string) {
    super(`There is already a workspace "${workspace}".`);
    this.name = 'WorkspaceExists';
  }
}

/**
 * Creates a workspace and records the action. Returns its id. The credits (null for unlimited) are booked as a ledger
 * entry, so that the entries always add up to the balance.
 */
export async function openWorkspace(
  { manager }: Transaction,
  name: string,
  settings: WorkspaceSettings & WorkspaceLimits,
  creditsMicros: number | null,
  actor: string,
): Promise<string> {
  const id = v7();
  const balanceMicros = creditsMicros === null ? null : 0;
  const row = { id, name, ...settings, balanceMicros };
  const inserted = await manager
    .createQueryBuilder()
    .insert()
    .into(Workspace)
    .values(row)
    .orIgnore()
    .returning('id')
    .execute();
  if ((inserted.raw as unknown[]).length === 0) throw new WorkspaceExists(name);
  if (creditsMicros) await manager.query(addToBalance, [id, creditsMicros, 'opening credits']);
  const details = { id, ...settings, balanceMicros: creditsMicros };
  await recordAction(manager, { actor, action: 'workspace.create', subject: name, details });
  return id;
}

/** Workspaces and their credits, for operators and for callers. */
@Injectable()
export class WorkspaceRepository {
  constructor(private readonly database: Database) {}

  async create(
    name: string,
    settings: WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number | null },
  ): Promise<Workspace> {
    await this.database.withManager((manager) => manager.insert(Workspace, { id: v7(), name, ...settings }));
    return this.find(name);
  }

  /**
   * Creates a workspace for an operator and records the action, all in one transaction. Its credits are null for
   * unlimited. Throws `WorkspaceExists`.
   */
  async open(
    name: string,
    settings: WorkspaceSettings & WorkspaceLimits,
    creditsMicros: number | null,
    by: string,
  ): Promise<Workspace> {
    const id = await this.database.transaction((transaction) =>
      openWorkspace(transaction, name, settings, creditsMicros, by),
    );
    return this.find(id);
  }

  /** Finds a workspace by name or id. Throws `UnknownWorkspace`. */
  async find(nameOrId: string): Promise<Workspace> {
    // Such text cannot be a stored name, and Postgres would reject it as a parameter.
    if (!isOneLine(nameOrId)) throw new UnknownWorkspace(nameOrId);
    const found = await this.database.withManager((manager) =>
      manager.findOneBy(Workspace, isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId }),
    );
    if (!found) throw new UnknownWorkspace(nameOrId);
    return found;
  }

  async list(): Promise<Workspace[]> {
    return this.database.withManager((manager) => manager.find(Workspace, { order: { name: 'ASC' } }));
  }

  /** The names to suggest for an unknown one. Their number is limited, because each is compared with it. */
  async names(): Promise<string[]> {
    const rows = await this.database.list<{ name: string }>(
      operators,
      'SELECT name FROM workspace ORDER BY name LIMIT 10000',
      [],
    );
    return rows.map(({ name }) => name);
  }

  /**
   * Changes a workspace in one transaction. The change takes effect at once, also for parked runs. Returns the runs
   * that were granted a slot. Every change of the balance is booked in the ledger, so that its entries add up to
   * the balance.
   */
  async change(
    nameOrId: string,
    change: WorkspaceChange,
    by: string,
  ): Promise<{ workspace: Workspace; granted: Granted[] }> {
    const { id, name } = await this.find(nameOrId);
    const { balanceMicros, addedMicros, note = 'credits set', ...columns } = change;
    const granted = await this.database.transaction(async ({ manager }) => {
      if (Object.keys(columns).length > 0) await manager.update(Workspace, { id }, columns);
      if (balanceMicros !== undefined) await manager.query(setBalance, [id, balanceMicros, note]);
      if (addedMicros !== undefined) await manager.query(addToBalance, [id, addedMicros, note]);
      await recordAction(manager, { actor: by, action: 'workspace.change', subject: name, details: change });
      return manager.query<Granted[]>('SELECT run_id AS "runId", provider FROM promote($1)', [id]);
    });
    return { workspace: await this.find(id), granted };
  }

  /** Changes what a workspace allows and demands. It concerns only later runs. */
  async changeTerms(id: string, terms: Partial<WorkspaceTerms>, by: string): Promise<void> {
    const { name } = await this.find(id);
    await this.database.transaction(async ({ manager }) => {
      if (Object.keys(terms).length > 0) await manager.update(Workspace, { id }, terms);
      await recordAction(manager, { actor: by, action: 'workspace.change', subject: name, details: terms });
    });
  }

  /**
   * Deletes a workspace without live runs, and its keys and files. A worker deletes the data of its runs within minutes.
   * Its ledger entries and audit records stay. False if it has live runs.
   */
  async delete(nameOrId: string, by: string): Promise<boolean> {
    const { id, name } = await this.find(nameOrId);
    return this.database.transaction(async ({ manager }) => {
      // Admissions take this lock first.
      await manager.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [id]);
      if (await manager.existsBy(Outbox, { workspaceId: id })) return false;
      await manager.update(StoredObject, { workspaceId: id }, { deleteAt: () => 'router_now()' });
      for (const entity of [Webhook, IdempotencyKey, Budget, KeptRun, OwnKeyRow, ApiKey])
        await manager.delete(entity, { workspaceId: id });
      // From the first of its runs on.
      await manager.query(
        `INSERT INTO workspace_erasure SELECT $1, '-infinity', '00000000-0000-0000-0000-000000000000'
          ON CONFLICT (workspace_id) DO UPDATE SET completed_at = excluded.completed_at, run_id = excluded.run_id`,
        [id],
      );
      await manager.delete(Workspace, { id });
      await recordAction(manager, { actor: by, action: 'workspace.delete', subject: name, details: { id } });
      return true;
    });
  }

  /** Replaces the webhook secret. Webhooks are signed with both the new and the previous secret for a day. */
  async rotateWebhookSecret(nameOrId: string, operator?: string): Promise<Workspace> {
    const { id, name } = await this.find(nameOrId);
    return this.database.transaction(async ({ manager }) => {
      await manager.query(
        `UPDATE workspace SET webhook_secrets = ARRAY[new_webhook_secret(), webhook_secrets[1]],
          webhook_secret_rotated_at = router_now() WHERE id = $1`,
        [id],
      );
      if (operator !== undefined) {
        await recordAction(manager, { actor: operator, action: 'webhook.rotate_secret', subject: name });
      }
      // The row is still locked, so no other rotation has begun.
      return manager.findOneByOrFail(Workspace, { id });
    });
  }

  /** Finds deleted workspaces by name or id, or all of them, while their deletion is on record. */
  async deleted(nameOrId = ''): Promise<{ id: string; name: string }[]> {
    return this.database.work.query(
      `SELECT details ->> 'id' AS id, subject AS name FROM operator_action
        WHERE action = 'workspace.delete' AND $1 IN (subject, details ->> 'id', '') ORDER BY id`,
      [nameOrId],
    );
  }

  /** The limits of a workspace and their current use. */
  async standing(id: string): Promise<WorkspaceStanding | null> {
    const [row] = await this.database.reads.query<WorkspaceStanding>(
      `SELECT ${standingColumns} FROM workspace WHERE id = $1`,
      [id],
    );
    return row ?? null;
  }

  /**
   * Lists workspaces by name, starting after `after`. `like` is a part of the name, or the id. For operators: may
   * be slow.
   */
  async states(
    like: string | undefined,
    { after = '', limit }: { after?: string | undefined; limit: number },
  ): Promise<WorkspaceState[]> {
    return this.database.list<WorkspaceState>(
      operators,
      `${workspaceStates}
        WHERE name > $1 AND ($2::text IS NULL OR strpos(lower(name), lower($2)) > 0 OR id::text = $2)
        ORDER BY name LIMIT $3`,
      [after, like ?? null, limit],
    );
  }

  async state(nameOrId: string): Promise<WorkspaceState | null> {
    // Postgres rejects parameters with a NUL character. No name contains one.
    if (!isOneLine(nameOrId)) return null;
    const text = `${workspaceStates} WHERE ${isUuid(nameOrId) ? 'id' : 'name'} = $1`;
    const [state] = await this.database.list<WorkspaceState>(operators, text, [nameOrId]);
    return state ?? null;
  }
}

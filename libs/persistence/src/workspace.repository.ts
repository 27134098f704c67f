import { isOneLine, isUuid } from '#schemas';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { v7 } from 'uuid';
import { orUnavailable } from './sql-errors.js';
import { OperatorAction } from './entities/operations.entity.js';
import { Workspace } from './entities/workspace.entity.js';
import type { Granted } from './run-facts.js';
import { UnknownWorkspace } from './unknown-workspace.js';

export type WorkspaceSettings = Partial<Pick<Workspace, 'enabled' | 'visible' | 'runnable' | 'markup'>>;

export type WorkspaceLimits = Partial<
  Pick<
    Workspace,
    'inflightLimit' | 'committedLimitMicros' | 'backlogLimit' | 'windowLimit' | 'fileLimit' | 'fileBytesLimit'
  >
>;

export interface WorkspaceChange extends WorkspaceSettings, WorkspaceLimits {
  /** Null: unlimited. */
  balanceMicros?: number | null;
  /** Negative ones are taken back; an unlimited workspace becomes a limited one. */
  addedMicros?: number;
  /** Why the balance changes. */
  note?: string;
}

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

/** Operators' commands on workspaces and credits. */
@Injectable()
export class WorkspaceRepository {
  constructor(@InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>) {}

  async create(
    name: string,
    settings: WorkspaceSettings & WorkspaceLimits & { balanceMicros?: number | null },
  ): Promise<Workspace> {
    const id = v7();
    await this.workspaces.insert({ id, name, ...settings });
    return this.find(name);
  }

  /**
   * Creates one as an operator does: all of it, or nothing, and who did. Its credits, null for unlimited ones, come in
   * through the ledger, so that its entries add up to the balance from the first one on.
   */
  async open(
    name: string,
    settings: WorkspaceSettings & WorkspaceLimits,
    creditsMicros: number | null,
    by: string,
  ): Promise<Workspace> {
    const id = v7();
    await this.transaction(async (manager) => {
      await manager.insert(Workspace, {
        id,
        name,
        ...settings,
        balanceMicros: creditsMicros === null ? null : 0,
      });
      if (creditsMicros) await manager.query(addToBalance, [id, creditsMicros, 'opening credits']);
      await manager.insert(OperatorAction, {
        actor: by,
        action: 'workspace.create',
        subject: name,
        details: { id, ...settings, balanceMicros: creditsMicros },
      });
    });
    return this.find(id);
  }

  /** By name or id. */
  async find(nameOrId: string): Promise<Workspace> {
    // What cannot be stored names nothing, and Postgres would not take it as a parameter either.
    if (!isOneLine(nameOrId)) throw new UnknownWorkspace(nameOrId);
    const found = await orUnavailable(
      this.workspaces.findOneBy(isUuid(nameOrId) ? { id: nameOrId } : { name: nameOrId }),
    );
    if (!found) throw new UnknownWorkspace(nameOrId);
    return found;
  }

  async list(): Promise<Workspace[]> {
    return this.workspaces.find({ order: { name: 'ASC' } });
  }

  /**
   * All of it, or nothing. It takes effect at once, on parked runs too: the granted ones are returned, to be enqueued.
   * The ledger holds every change of the balance, so that its sum stays the balance.
   */
  async change(
    nameOrId: string,
    change: WorkspaceChange,
    by: string,
  ): Promise<{ workspace: Workspace; granted: Granted[] }> {
    const { id, name } = await this.find(nameOrId);
    const { balanceMicros, addedMicros, note = 'credits set', ...columns } = change;
    const granted = await this.transaction(async (manager) => {
      if (Object.keys(columns).length > 0) await manager.getRepository(Workspace).update({ id }, columns);
      if (balanceMicros !== undefined) await manager.query(setBalance, [id, balanceMicros, note]);
      if (addedMicros !== undefined) await manager.query(addToBalance, [id, addedMicros, note]);
      await manager.insert(OperatorAction, {
        actor: by,
        action: 'workspace.change',
        subject: name,
        details: change,
      });
      return manager.query<Granted[]>('SELECT run_id AS "runId", provider FROM promote($1)', [id]);
    });
    return { workspace: await this.find(id), granted };
  }

  /**
   * Deletes a workspace without live runs, its keys and its files. What its runs cost stays, in ledger and audit
   * records, under its id. False while runs live.
   */
  async delete(nameOrId: string, by: string): Promise<boolean> {
    const { id, name } = await this.find(nameOrId);
    return this.transaction(async (manager) => {
      // Whoever admits a run takes this lock first.
      await manager.query('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [id]);
      const live = await manager.query<unknown[]>('SELECT FROM outbox WHERE workspace_id = $1 LIMIT 1', [id]);
      if (live.length > 0) return false;
      await manager.query('UPDATE stored_object SET delete_at = router_now() WHERE workspace_id = $1', [id]);
      await manager.query('DELETE FROM webhook WHERE workspace_id = $1', [id]);
      await manager.query('DELETE FROM idempotency_key WHERE workspace_id = $1', [id]);
      await manager.query('DELETE FROM api_key WHERE workspace_id = $1', [id]);
      await manager.query('DELETE FROM workspace WHERE id = $1', [id]);
      await manager.insert(OperatorAction, {
        actor: by,
        action: 'workspace.delete',
        subject: name,
        details: { id },
      });
      return true;
    });
  }

  /** A new secret signs the workspace's webhooks at once, beside the one before it, which does so for a day. */
  async rotateWebhookSecret(nameOrId: string, operator?: string): Promise<Workspace> {
    const { id, name } = await this.find(nameOrId);
    return this.transaction(async (manager) => {
      await manager.query(
        `UPDATE workspace SET webhook_secrets = ARRAY[new_webhook_secret(), webhook_secrets[1]],
          webhook_secret_rotated_at = router_now() WHERE id = $1`,
        [id],
      );
      if (operator !== undefined) {
        const action = { actor: operator, action: 'webhook.rotate_secret', subject: name, details: {} };
        await manager.insert(OperatorAction, action);
      }
      // Still under the lock of its row: the next rotation has not begun.
      return manager.findOneByOrFail(Workspace, { id });
    });
  }

  /** Those that were deleted, by the name or id that they had, as long as that is recorded. */
  async deleted(nameOrId?: string): Promise<{ id: string; name: string }[]> {
    return this.workspaces.query(
      `SELECT details ->> 'id' AS id, subject AS name FROM operator_action
       WHERE action = 'workspace.delete' AND $1 IN (subject, details ->> 'id', '') ORDER BY id`,
      [nameOrId ?? ''],
    );
  }

  private transaction<Result>(use: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return orUnavailable(this.workspaces.manager.transaction(use));
  }
}

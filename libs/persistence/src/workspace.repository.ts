import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { v7 } from 'uuid';
import { Workspace } from './entities/workspace.entity.js';
import type { Granted } from './run-facts.js';

export interface WorkspaceSettings {
  enabled?: boolean;
  visible?: string[];
  runnable?: string[];
  markup?: number;
}

export interface WorkspaceLimits {
  inflightLimit?: number;
  committedLimitMicros?: number;
  backlogLimit?: number;
  windowLimit?: number;
  fileLimit?: number;
  fileBytesLimit?: number;
}

export class UnknownWorkspace extends Error {
  constructor(name: string) {
    super(`There is no workspace "${name}".`);
    this.name = 'UnknownWorkspace';
  }
}

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

  /** By name or id. */
  async find(nameOrId: string): Promise<Workspace> {
    const isId = /^[0-9a-f-]{36}$/.test(nameOrId);
    const found = await this.workspaces.findOneBy(isId ? { id: nameOrId } : { name: nameOrId });
    if (!found) throw new UnknownWorkspace(nameOrId);
    return found;
  }

  async list(): Promise<Workspace[]> {
    return this.workspaces.find({ order: { name: 'ASC' } });
  }

  async set(name: string, settings: WorkspaceSettings): Promise<Workspace> {
    const { id } = await this.find(name);
    if (Object.keys(settings).length > 0) await this.workspaces.update({ id }, settings);
    return this.find(name);
  }

  /** Takes effect at once, on parked runs too: the granted ones are returned, to be enqueued. */
  async setLimits(
    name: string,
    limits: WorkspaceLimits,
  ): Promise<{ workspace: Workspace; granted: Granted[] }> {
    const { id } = await this.find(name);
    const granted = await this.workspaces.manager.transaction(async (manager) => {
      if (Object.keys(limits).length > 0) await manager.getRepository(Workspace).update({ id }, limits);
      return manager.query<Granted[]>('SELECT run_id AS "runId", provider FROM promote($1)', [id]);
    });
    return { workspace: await this.find(name), granted };
  }

  /** Adds (or, negative, takes back) credits; an unlimited workspace becomes a limited one. */
  async addCredits(name: string, amountMicros: number, note: string): Promise<Workspace> {
    const { id } = await this.find(name);
    await this.workspaces.query(
      `WITH changed AS (
         UPDATE workspace SET balance_micros = coalesce(balance_micros, 0) + $2 WHERE id = $1 RETURNING id, balance_micros
       )
       INSERT INTO ledger_entry (workspace_id, amount_micros, balance_micros, note) SELECT id, $2, balance_micros, $3 FROM changed`,
      [id, amountMicros, note],
    );
    return this.find(name);
  }

  /** Sets the balance (null: unlimited); the ledger holds the difference, so that its sum stays the balance. */
  async setCredits(name: string, balanceMicros: number | null, note: string): Promise<Workspace> {
    const { id } = await this.find(name);
    await this.workspaces.query(
      `WITH before AS (
         SELECT id, coalesce(balance_micros, 0) AS balance_micros FROM workspace WHERE id = $1 FOR NO KEY UPDATE
       ), changed AS (
         UPDATE workspace SET balance_micros = $2::bigint FROM before WHERE workspace.id = before.id
         RETURNING workspace.id, coalesce($2::bigint, 0) - before.balance_micros AS difference
       )
       INSERT INTO ledger_entry (workspace_id, amount_micros, balance_micros, note)
       SELECT id, difference, $2::bigint, $3 FROM changed`,
      [id, balanceMicros, note],
    );
    return this.find(name);
  }

  /** A new secret signs the workspace's webhooks at once, beside the one before it, which does so for a day. */
  async rotateWebhookSecret(name: string): Promise<Workspace> {
    const { id } = await this.find(name);
    await this.workspaces.query(
      `UPDATE workspace SET webhook_secrets = ARRAY[new_webhook_secret(), webhook_secrets[1]],
         webhook_secret_rotated_at = router_now() WHERE id = $1`,
      [id],
    );
    return this.find(id);
  }
}

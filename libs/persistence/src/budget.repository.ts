import { maxBudgets, microsFromCents, momentOf, type RouterBudgetInput } from '#schemas';
import { Injectable } from '@nestjs/common';
import { v7 } from 'uuid';
import { Database, type Transaction } from './database.js';
import { Budget, BudgetWindow, type BudgetRaise } from './entities/budget.entity.js';
import { ApiKey } from './entities/workspace.entity.js';
import { recordAction } from './operator-actions.js';
import { sqlState, UnknownWorkspace } from './sql-errors.js';

/** A budget and its present window. Amounts are micro-dollars; those of a budget that counts each value are null. */
export interface BudgetState extends Omit<Budget, 'workspaceId' | 'pattern' | 'id'> {
  /** With the present raise. */
  currentLimitMicros: number;
  spentMicros: number | null;
  reservedMicros: number | null;
  /** Null for a total. */
  startsAt: Date | null;
  endsAt: Date | null;
}

export type BudgetUse = Pick<BudgetWindow, 'value' | 'spentMicros' | 'reservedMicros'> & { scope: string };

/** Why a budget is not set. */
export type BudgetRefusal = 'time_zone' | 'key' | 'too_many';

const invalidParameter = '22023';

const presentWindows = `budget CROSS JOIN LATERAL budget_bounds(period, time_zone, router_now()) AS bounds`;

/** The budgets of workspaces. Admissions and outcomes, in SQL, count runs in their windows. */
@Injectable()
export class BudgetRepository {
  constructor(private readonly database: Database) {}

  /** All budgets by name, or the one with the name. */
  async list(workspaceId: string, name: string | null = null): Promise<BudgetState[]> {
    return this.database.reads.query<BudgetState>(
      `SELECT name, scope, budget.value, period, time_zone AS "timeZone", limit_micros::float AS "limitMicros", hard,
          webhook_url AS "webhookUrl", raises, counts_none AS "countsNone", budget_limit(limit_micros, raises, router_now())::float AS "currentLimitMicros",
          CASE WHEN budget.value IS NOT NULL THEN coalesce(spent_micros, 0)::float END AS "spentMicros",
          CASE WHEN budget.value IS NOT NULL THEN coalesce(reserved_micros, 0)::float END AS "reservedMicros",
          nullif(bounds.starts_at, '-infinity') AS "startsAt", nullif(bounds.ends_at, 'infinity') AS "endsAt"
        FROM ${presentWindows}
          LEFT JOIN budget_window AS its ON budget_id = budget.id AND its.starts_at = bounds.starts_at AND its.value = budget.value
        WHERE workspace_id = $1 AND ($2::text IS NULL OR name = $2) ORDER BY name`,
      [workspaceId, name],
    );
  }

  /** The values of a budget's present window in their order, after `after`. */
  async values(
    workspaceId: string,
    name: string,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<BudgetUse[]> {
    return this.database.list<BudgetUse>(
      workspaceId,
      `SELECT scope, its.value, spent_micros::float AS "spentMicros", reserved_micros::float AS "reservedMicros"
        FROM ${presentWindows} JOIN budget_window AS its ON budget_id = budget.id AND its.starts_at = bounds.starts_at
        WHERE workspace_id = $1 AND name = $2 AND ($3::text IS NULL OR its.value > $3) ORDER BY its.value LIMIT $4`,
      [workspaceId, name, after ?? null, limit],
    );
  }

  /**
   * Creates or replaces a budget. A change applies to the next admission. What the present window counted stays counted
   * if only its length or its time zone changes; other runs are then counted from this moment on.
   */
  async set(
    workspaceId: string,
    name: string,
    input: RouterBudgetInput,
    actor: string,
  ): Promise<{ isNew: boolean } | { refused: BudgetRefusal }> {
    if (!(await this.knowsTimeZone(input.time_zone))) return { refused: 'time_zone' };
    return this.database.transaction(async (transaction) => {
      const { manager } = transaction;
      const workspace = await lockedName(transaction, workspaceId);
      const old = await manager.findOneBy(Budget, { workspaceId, name });
      const settings = settingsOf(input, old);
      if (input.scope === 'key' && input.value !== undefined) {
        // The first of rotated keys may have been deleted long ago.
        const id = input.value;
        const where = [
          { workspaceId, id },
          { workspaceId, firstId: id },
        ];
        const key = await manager.findOne(ApiKey, { where, select: { id: true, firstId: true } });
        if (key === null) return { refused: 'key' };
        settings.value = `key:${key.firstId ?? key.id}`;
      }
      if (old === null) {
        if ((await manager.countBy(Budget, { workspaceId })) >= maxBudgets) return { refused: 'too_many' };
        await manager.insert(Budget, { id: v7(), workspaceId, name, ...settings });
        await countBudgets(transaction, workspaceId);
      } else {
        await manager.update(Budget, { id: old.id }, settings);
        await moveWindows(transaction, old, settings);
      }
      await readAsAdmissionDoes(transaction, workspaceId, name);
      await recordAction(manager, {
        actor,
        action: 'budget.set',
        subject: name,
        details: { workspace, ...input },
      });
      return { isNew: old === null };
    });
  }

  /** Deletes a budget and what it counted. False if there is none. */
  async delete(workspaceId: string, name: string, actor: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const { manager } = transaction;
      const workspace = await lockedName(transaction, workspaceId);
      const { affected } = await manager.delete(Budget, { workspaceId, name });
      if (affected === 0) return false;
      await countBudgets(transaction, workspaceId);
      await recordAction(manager, {
        actor,
        action: 'budget.delete',
        subject: name,
        details: { workspace },
      });
      return true;
    });
  }

  /** Asks the database, because its list of time zones may differ from ours, and admissions must not fail. */
  private async knowsTimeZone(zone: string): Promise<boolean> {
    try {
      await this.database.work.query(`SELECT budget_bounds('day', $1, router_now())`, [zone]);
      return true;
    } catch (error) {
      if (sqlState(error) === invalidParameter) return false;
      throw error;
    }
  }
}

type Settings = Omit<Budget, 'id' | 'workspaceId' | 'name'>;

function settingsOf(input: RouterBudgetInput, old: Budget | null): Settings {
  const { scope, value } = input;
  // Without a word about calls that name no end user, a budget keeps what it does.
  const countsNone = scope === 'user' && value === undefined && old?.scope === 'user' && old.countsNone;
  const raises: BudgetRaise[] = input.raises
    .map(({ amount_cents, from, until }) => ({
      micros: microsFromCents(amount_cents),
      from: storedTime(from),
      until: storedTime(until),
    }))
    .filter(({ until }) => until > new Date().toISOString());
  return {
    scope,
    value: scope === 'workspace' ? '' : (value ?? null),
    pattern: scope === 'model' && value !== undefined ? patternOf(value) : null,
    period: input.window,
    timeZone: input.time_zone,
    limitMicros: microsFromCents(input.limit_cents),
    hard: input.kind === 'hard',
    webhookUrl: input.webhook_url === undefined ? null : new URL(input.webhook_url).href,
    raises,
    countsNone:
      scope !== 'user' || value !== undefined || (input.none ? input.none === 'counted' : countsNone),
  };
}

/** In the one form that every reader of a time knows. */
function storedTime(text: string): string {
  const time = momentOf(text);
  if (time === null) throw new Error(`${text} is not a time`);
  return time.toISOString();
}

/** The regular expression of a glob over model ids. */
const patternOf = (glob: string): string =>
  `^${(glob === '*' ? '**' : glob)
    .split(/(\*+)/)
    .map((part, nth) => (nth % 2 === 0 ? part.replaceAll('.', '\\.') : part === '*' ? '[^/]*' : '.*'))
    .join('')}$`;

/** Locks the workspace, as admissions and outcomes do, and returns its name. */
async function lockedName({ query }: Transaction, workspaceId: string): Promise<string> {
  const [workspace] = await query<{ name: string }>(
    'SELECT name FROM workspace WHERE id = $1 FOR NO KEY UPDATE',
    [workspaceId],
  );
  if (!workspace) throw new UnknownWorkspace(workspaceId);
  return workspace.name;
}

/** Fails before the budget is stored if an admission could not read it, because every admission of the workspace would. */
const readAsAdmissionDoes = ({ query }: Transaction, workspaceId: string, name: string) =>
  query(
    `SELECT budget_limit(limit_micros, raises, router_now()), budget_bounds(period, time_zone, router_now())
     FROM budget WHERE workspace_id = $1 AND name = $2`,
    [workspaceId, name],
  );

const countBudgets = ({ query }: Transaction, workspaceId: string) =>
  query(
    'UPDATE workspace SET budgets = (SELECT count(*) FROM budget WHERE workspace_id = $1) WHERE id = $1',
    [workspaceId],
  );

/** Makes the windows of a changed budget those of its new settings, so that a change never forgets what was spent. */
async function moveWindows({ query }: Transaction, old: Budget, settings: Settings): Promise<void> {
  const { id, period, timeZone } = old;
  if (settings.scope !== old.scope || settings.value !== old.value) {
    await query('DELETE FROM budget_window WHERE budget_id = $1', [id]);
  } else if (settings.period !== period || settings.timeZone !== timeZone) {
    await query(
      `DELETE FROM budget_window WHERE budget_id = $1
         AND starts_at <> (SELECT starts_at FROM budget_bounds($2, $3, router_now()))`,
      [id, period, timeZone],
    );
    await query(
      `UPDATE budget_window SET starts_at = bounds.starts_at, ends_at = bounds.ends_at
        FROM budget_bounds($2, $3, router_now()) AS bounds WHERE budget_id = $1`,
      [id, settings.period, settings.timeZone],
    );
  }
}

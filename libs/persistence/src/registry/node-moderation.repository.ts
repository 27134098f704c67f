import { DataSource } from 'typeorm';
import { OperatorAction } from '../entities/operations.entity.js';
import { acquireWriteLock } from './node.repository.js';

const statuses = {
  node: { banned: 'NodeStatusBanned', active: 'NodeStatusActive' },
  publisher: { banned: 'PublisherStatusBanned', active: 'PublisherStatusActive' },
} as const;

export type Moderated = keyof typeof statuses;

type Action = Pick<OperatorAction, 'actor' | 'action' | 'subject' | 'details'>;

/** Bans, their ends and admin tags: what operators decide about nodes and publishers. It stands beside what records say, and outlives every import. */
export class NodeModerationRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** False when there is no such node or publisher. */
  async ban(kind: Moderated, id: string, detail: string | null, by: string): Promise<boolean> {
    const action = {
      actor: by,
      action: `${kind}.ban`,
      subject: id,
      details: detail === null ? {} : { detail },
    };
    return this.moderate(kind, `$2`, [statuses[kind].banned], detail, action);
  }

  /** Ends a ban, an operator's or one that a record brought. False when there is no such node or publisher. */
  async unban(kind: Moderated, id: string, by: string): Promise<boolean> {
    const { banned, active } = statuses[kind];
    const action = { actor: by, action: `${kind}.unban`, subject: id, details: {} };
    // A decision is kept only where the record says otherwise.
    return this.moderate(kind, `CASE WHEN status = $3 THEN $2 END`, [active, banned], null, action);
  }

  /** Replaces the admin tags of a node; null: those of its record count again. */
  async tag(id: string, tags: readonly string[] | null, by: string): Promise<boolean> {
    return this.write(
      `UPDATE node SET moderated_tags = $2::text[], updated_at = greatest(router_now(), created_at)
        WHERE id = $1 RETURNING id`,
      [id, tags],
      { actor: by, action: 'node.tag', subject: id, details: { tags } },
    );
  }

  private async moderate(
    kind: Moderated,
    decision: string,
    values: readonly string[],
    detail: string | null,
    action: Action,
  ): Promise<boolean> {
    const { subject: id } = action;
    if (kind === 'publisher')
      return this.write(
        `UPDATE publisher SET moderated_status = ${decision} WHERE id = $1 RETURNING id`,
        [id, ...values],
        action,
      );
    return this.write(
      `UPDATE node SET moderated_status = ${decision}, moderated_detail = $${values.length + 2},
          updated_at = greatest(router_now(), created_at)
        WHERE id = $1 RETURNING id`,
      [id, ...values, detail],
      action,
    );
  }

  /** Holds the imports' lock: what one of them reads before it writes must not change meanwhile. */
  private async write(text: string, values: unknown[], action: Action): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(acquireWriteLock);
      const [rows] = await manager.query<[unknown[], number]>(text, values);
      if (rows.length > 0) await manager.insert(OperatorAction, action);
      return rows.length > 0;
    });
  }
}

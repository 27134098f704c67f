import { DataSource, type EntityManager, type UpdateResult } from 'typeorm';
import { Node, Publisher } from '../entities/registry.entity.js';
import { type Action, recordAction } from '../operator-actions.js';
import { acquireWriteLock } from './node.repository.js';

const statuses = {
  node: { banned: 'NodeStatusBanned', active: 'NodeStatusActive' },
  publisher: { banned: 'PublisherStatusBanned', active: 'PublisherStatusActive' },
} as const;

export type Moderated = keyof typeof statuses;

/** The update time is never before the creation time, whichever clock set that. */
const touched = { updatedAt: () => 'greatest(router_now(), created_at)' };

/** Bans and admin tags: operators' decisions about nodes and publishers, which imports do not overwrite. */
export class NodeModerationRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Bans a node or publisher. False if it does not exist. */
  async ban(kind: Moderated, id: string, detail: string | null, by: string): Promise<boolean> {
    const details = detail === null ? {} : { detail };
    const action: Action = { actor: by, action: `${kind}.ban`, subject: id, details };
    return this.decide(kind, `'${statuses[kind].banned}'`, detail, action);
  }

  /**
   * Ends a ban, whether an operator or an imported record set it. False if the node or publisher does not exist.
   */
  async unban(kind: Moderated, id: string, by: string): Promise<boolean> {
    const { banned, active } = statuses[kind];
    // Keep a decision only if the record says otherwise.
    const decision = `CASE WHEN status = '${banned}' THEN '${active}' END`;
    return this.decide(kind, decision, null, { actor: by, action: `${kind}.unban`, subject: id });
  }

  /** Replaces the admin tags of a node. Null restores the tags of its record. */
  async tag(id: string, tags: string[] | null, by: string): Promise<boolean> {
    const action: Action = { actor: by, action: 'node.tag', subject: id, details: { tags } };
    return this.record(action, (manager) =>
      manager.update(Node, { id }, { moderatedTags: tags, ...touched }),
    );
  }

  /** The ids to suggest for an unknown one. For commands: there may be many. */
  async ids(kind: Moderated): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(`SELECT id FROM ${kind} ORDER BY id`);
    return rows.map(({ id }) => id);
  }

  private decide(kind: Moderated, decision: string, detail: string | null, action: Action): Promise<boolean> {
    const id = action.subject;
    const moderatedStatus = () => decision;
    return this.record(action, (manager) =>
      kind === 'publisher'
        ? manager.update(Publisher, { id }, { moderatedStatus })
        : manager.update(Node, { id }, { moderatedStatus, moderatedDetail: detail, ...touched }),
    );
  }

  /** Holds the lock of the imports, because an import's reads must still be valid when it writes. */
  private async record(
    action: Action,
    update: (manager: EntityManager) => Promise<UpdateResult>,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      await manager.query(acquireWriteLock);
      const { affected } = await update(manager);
      if (affected !== 1) return false;
      await recordAction(manager, action);
      return true;
    });
  }
}

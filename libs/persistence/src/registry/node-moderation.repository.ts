import { DataSource, type EntityManager, type UpdateResult } from 'typeorm';
import { Node, Publisher } from '../entities/registry.entity.js';
import { type Action, recordAction } from '../operator-actions.js';
import { acquireWriteLock } from './node.repository.js';

const statuses = {
  node: { banned: 'NodeStatusBanned', active: 'NodeStatusActive' },
  publisher: { banned: 'PublisherStatusBanned', active: 'PublisherStatusActive' },
} as const;

export type Moderated = keyof typeof statuses;

/** A node's time is never earlier than its creation, by whatever clock that was. */
const touched = { updatedAt: () => 'greatest(router_now(), created_at)' };

/** Bans, their ends and admin tags: operators' decisions about nodes and publishers, which outlive every import of records. */
export class NodeModerationRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** False when there is no such node or publisher. */
  async ban(kind: Moderated, id: string, detail: string | null, by: string): Promise<boolean> {
    const details = detail === null ? {} : { detail };
    const action = { actor: by, action: `${kind}.ban`, subject: id, details };
    return this.decide(kind, `'${statuses[kind].banned}'`, detail, action);
  }

  /** Ends a ban, an operator's or one that a record brought. False when there is no such node or publisher. */
  async unban(kind: Moderated, id: string, by: string): Promise<boolean> {
    const { banned, active } = statuses[kind];
    // A decision is kept only where the record says otherwise.
    const decision = `CASE WHEN status = '${banned}' THEN '${active}' END`;
    return this.decide(kind, decision, null, { actor: by, action: `${kind}.unban`, subject: id });
  }

  /** Replaces the admin tags of a node; null: those of its record count again. */
  async tag(id: string, tags: string[] | null, by: string): Promise<boolean> {
    const action = { actor: by, action: 'node.tag', subject: id, details: { tags } };
    return this.record(action, (manager) =>
      manager.update(Node, { id }, { moderatedTags: tags, ...touched }),
    );
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

  /** Holds the imports' lock: what one of them reads before it writes must not change meanwhile. */
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

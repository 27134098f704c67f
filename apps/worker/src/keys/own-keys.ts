import { SETTINGS } from '#infrastructure';
import { type Log, LOG, UnderWay } from '#observability';
import { DatabaseOutage, type LiveRun, OwnKeyRepository, type SealedKey, type TakenRun } from '#persistence';
import type { ProviderKey } from '#providers';
import { CannotDecrypt, openEnvelope } from '#schemas';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { WorkerSettings } from '../settings.js';

/** Versions whose text this process keeps in memory, and for how long after their last use. */
const maxOpen = 1_000;
const openMs = 10 * 60_000;

interface OpenKey {
  key: ProviderKey;
  /** The provider's last verdict on it, as far as this process knows. */
  state: SealedKey['state'];
}

/** The workspace has no such key: it was deleted. Or this process cannot open it, but another worker may. */
type Missing = 'gone' | undefined;

/** Workspaces' own keys of providers. A run notes the version that submits it, and its later calls use that one. */
@Injectable()
export class OwnKeys implements OnModuleDestroy {
  private readonly open = new LRUCache<string, OpenKey>({ max: maxOpen, ttl: openMs, updateAgeOnGet: true });
  private readonly writing: UnderWay;

  constructor(
    private readonly keys: OwnKeyRepository,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'ENCRYPTION_KEYS'>,
    @Inject(LOG) private readonly log: Log,
    @Inject(DatabaseOutage) outage: Pick<DatabaseOutage, 'warn'>,
  ) {
    this.writing = new UnderWay(outage);
  }

  async onModuleDestroy(): Promise<void> {
    await this.writing.ended();
  }

  /** The current version, which is noted in the run. Until its submission, a run uses whatever key its workspace has. */
  async keyFor(run: TakenRun): Promise<ProviderKey | Missing> {
    const current = await this.keys.current(run.workspaceId, run.provider);
    if (current === null) return 'gone';
    if (current.id !== run.facts.ownKey) {
      await this.keys.useVersion(run.runId, run.epoch, current.id);
      run.facts.ownKey = current.id;
    }
    return this.opened(current)?.key;
  }

  /** The version that submitted the run. */
  async keyOf({ facts: { ownKey: id = '' } }: LiveRun): Promise<ProviderKey | Missing> {
    const known = this.open.get(id);
    if (known !== undefined) return known.key;
    const version = await this.keys.version(id);
    return version === null ? 'gone' : this.opened(version)?.key;
  }

  /** Notes whether the provider accepts the key, if that is news. No call waits for the write. */
  noteState(id: string, state: 'accepted' | 'rejected'): void {
    const known = this.open.get(id);
    if (known === undefined || state === known.state) return;
    known.state = state;
    this.writing.track(this.keys.noteState(id, state), 'could not note the state of a workspace’s key');
  }

  private opened(version: SealedKey): OpenKey | undefined {
    const known = this.open.get(version.id);
    if (known !== undefined) return known;
    try {
      const secret = openEnvelope(this.settings.ENCRYPTION_KEYS, version.context, version);
      const opened = { key: { name: 'own', secret, ownId: version.id }, state: version.state };
      this.open.set(version.id, opened);
      return opened;
    } catch (error) {
      if (!(error instanceof CannotDecrypt)) throw error;
      this.log.error({ error, key_id: version.id }, 'could not decrypt the provider key of a workspace');
      return undefined;
    }
  }
}

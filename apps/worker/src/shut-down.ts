import { LiveCatalog } from '#catalog';
import type { Tracing } from '#observability';
import { Database } from '#persistence';
import type { Transport } from '#queue';
import type { OpenedStore } from '#storage';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Doors } from './calls/doors.js';
import { Lanes } from './lanes.js';
import { ReplyReader } from './calls/reply-reader.js';
import { Gauges } from './life/gauges.js';
import { Retention } from './life/retention.js';
import { STORAGE, TRACING, TRANSPORT } from './tokens.js';

/** Consumers before queues, queues before the database: nothing is closed while something still needs it. */
@Injectable()
export class ShutDown implements OnApplicationShutdown {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly retention: Retention,
    private readonly gauges: Gauges,
    private readonly replies: ReplyReader,
    private readonly lanes: Lanes,
    private readonly doors: Doors,
    @Inject(STORAGE) private readonly storage: OpenedStore,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly database: Database,
    @Inject(TRACING) private readonly tracing: Tracing,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.catalog.close();
    await Promise.all([this.retention.stop(), this.gauges.stop(), this.lanes.stop()]);
    await Promise.all([this.doors.close(), this.replies.close()]);
    await this.transport.close();
    await this.storage.store.close();
    await this.database.close();
    await this.tracing.close();
  }
}

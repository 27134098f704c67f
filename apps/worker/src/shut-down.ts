import { Database, DatabaseClock } from '#persistence';
import type { Transport } from '#queue';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PartnerClient } from './calls/partner-client.js';
import { Lanes } from './lanes.js';
import { TRANSPORT } from './tokens.js';

/** Consumers before queues, queues before the database: nothing is closed while something still needs it. */
@Injectable()
export class ShutDown implements OnApplicationShutdown {
  constructor(
    private readonly lanes: Lanes,
    private readonly client: PartnerClient,
    @Inject(TRANSPORT) private readonly transport: Transport,
    private readonly clock: DatabaseClock,
    private readonly database: Database,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.lanes.stop();
    await this.client.close();
    await this.transport.close();
    this.clock.stop();
    await this.database.close();
  }
}

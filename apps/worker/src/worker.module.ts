import { InfrastructureModule } from '#infrastructure';
import { Module } from '@nestjs/common';
import { AssetCopies } from './assets/asset-copies.js';
import { AssetSource } from './assets/asset-source.js';
import { AssetsProcessor } from './assets/assets.processor.js';
import { AttemptRecorder } from './attempts/attempt-recorder.js';
import { SurpriseRecorder } from './attempts/surprise-recorder.js';
import { Payloads } from './bytes/payloads.js';
import { OutboundAgents } from './calls/outbound-agents.js';
import { ProviderClient } from './calls/provider-client.js';
import { ProviderCall } from './calls/provider-call.js';
import { ProviderChecks } from './calls/provider-checks.js';
import { ProviderResults } from './calls/provider-results.js';
import { ReplyReader } from './calls/reply-reader.js';
import { CatalogModule } from './catalog.module.js';
import { KeyRounds } from './calls/key-rounds.js';
import { OwnKeys } from './keys/own-keys.js';
import { ProviderKeys } from './keys/provider-keys.js';
import { NameResolver } from './resolver/name-resolver.js';
import { Claims } from './runs/claims.js';
import { Dispatcher } from './runs/dispatcher.js';
import { DueRuns } from './due-runs.js';
import { InputFiles } from './calls/input-files.js';
import { HeldOutcomes } from './runs/held-outcomes.js';
import { Outcomes } from './runs/outcomes.js';
import { PollProcessor } from './runs/poll.processor.js';
import { Reconciler } from './runs/reconciler.js';
import { Retention } from './runs/retention.js';
import { SpilledOutcomes } from './runs/spilled-outcomes.js';
import { StreamedRuns } from './runs/streamed-runs.js';
import { Submission } from './runs/submission.js';
import { WebhookCalls } from './webhooks/webhook-calls.js';
import { WebhooksProcessor } from './webhooks/webhooks.processor.js';
import { WorkerStart } from './worker-start.js';
import { WorkerStop } from './worker-stop.js';

@Module({
  imports: [InfrastructureModule, CatalogModule],
  providers: [
    Dispatcher,
    DueRuns,
    PollProcessor,
    AssetsProcessor,
    WebhooksProcessor,
    Claims,
    StreamedRuns,
    Submission,
    HeldOutcomes,
    Outcomes,
    SpilledOutcomes,
    ProviderCall,
    ProviderChecks,
    ProviderClient,
    ProviderResults,
    ProviderKeys,
    KeyRounds,
    OwnKeys,
    InputFiles,
    OutboundAgents,
    NameResolver,
    ReplyReader,
    Payloads,
    AttemptRecorder,
    SurpriseRecorder,
    AssetCopies,
    AssetSource,
    WebhookCalls,
    Reconciler,
    Retention,
    WorkerStart,
    WorkerStop,
  ],
})
export class WorkerModule {}

import { Database, dispatchCounts, OutboxRepository, runningProcesses } from '#persistence';
import { RunQueues } from '#queue';
import { type OperatorQueues, operatorQueues } from '#schemas';
import { Controller, Get } from '@nestjs/common';
import { Access } from '../auth/caller.guard.js';
import { answer, ApiRoute, json } from '../http/api-route.js';

const states = operatorQueues.shape.runs.element.shape.state.options;

@Controller('v2/operator/queues')
export class OperatorQueuesController {
  constructor(
    private readonly queues: RunQueues,
    private readonly outbox: OutboxRepository,
    private readonly database: Database,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorGetQueues',
    area: 'Operator',
    summary: 'Get the waiting runs by state and age, and the running gateways and workers',
    answers: [answer(200, 'The current state.', json(operatorQueues))],
  })
  async read(): Promise<OperatorQueues> {
    const [queues, load, processes] = await Promise.all([
      this.queues.counts(),
      this.outbox.load(),
      runningProcesses(this.database),
    ]);
    return {
      transport: this.queues.kind,
      queues: [dispatchCounts(load), ...queues],
      runs: states.map((state) => {
        const rows = load.filter((each) => each.state === state);
        return {
          state,
          runs: rows.reduce((sum, { runs }) => sum + runs, 0),
          oldest_seconds: Math.max(0, ...rows.map(({ oldestSeconds }) => oldestSeconds)),
        };
      }),
      processes: processes.map(({ startedAt, seenAt, revision, problem, ...process }) => ({
        ...process,
        started_at: startedAt.toISOString(),
        seen_at: seenAt.toISOString(),
        catalog_revision: revision,
        ...(problem !== null && { catalog_problem: problem }),
      })),
    };
  }
}

import { settlesWithin } from '#observability';
import { Database, databaseSettings, DueRowRepository } from '#persistence';
import type { QueueName, QueueSettings } from '#queue';
import { readSettings } from '#schemas';
import type { QueuedRun } from '../../libs/queue/src/run-queues.js';
import { DueRuns } from '../../apps/worker/src/due-runs.js';

/** Rows without runs, which is all that a delivery needs. */
const workspaceId = '00000000-0000-7000-8000-000000000000';

/** The shared cases use the queue webhooks, whose rows are in another table. */
export const rowQueue = (queue: QueueName): QueueName => (queue === 'webhooks' ? 'poll' : queue);

type Given = ConstructorParameters<typeof DueRuns>;
interface Around {
  queues: Given[1];
  poll: Given[2];
  assets: Given[3];
  webhooks: Given[4];
  metrics: Given[5];
  log: Given[7];
}

export type Rows = ReturnType<typeof openRows>;

/** The database side of one process: its rows, and the worker's component that takes them. */
export function openRows(
  url: string,
  { QUEUE_LOCK_MS, QUEUE_COMMAND_TIMEOUT_MS: maxMs }: QueueSettings,
  { queues, poll, assets, webhooks, metrics, log }: Around,
) {
  const limits = { DATABASE_ACQUIRE_MS: `${maxMs}`, DATABASE_STATEMENT_MS: `${maxMs}` };
  const database = Database.create(readSettings(databaseSettings, { DATABASE_URL: url, ...limits }));
  const settings = { QUEUE_LOCK_MS, WORKER_CLOSE_MS: 0 };
  const rows = new DueRowRepository(database);
  const dueRuns = new DueRuns(rows, queues, poll, assets, webhooks, metrics, settings, log);
  return {
    takeRuns: (isTaking: boolean) => dueRuns.takeRuns(isTaking),
    /** Like an admission, with the time limit of a queue. */
    enqueue: async (runs: readonly QueuedRun[]): Promise<boolean[]> => {
      const written = insert(database, runs).then(
        () => true,
        () => false,
      );
      if (!(await settlesWithin(written, maxMs)) || !(await written)) return runs.map(() => false);
      return queues.enqueue(runs);
    },
    /** Like a cancellation. */
    runNow: async (runId: string): Promise<void> => {
      const text =
        'UPDATE outbox SET due_at = router_now() WHERE workspace_id = $1 AND run_id = $2 AND attempts = 0';
      await database.work.query(text, [workspaceId, runId]).catch(() => {});
      await queues.runNow('poll', runId);
    },
    /** Like the end of a run. */
    end: async (runId: string): Promise<void> => {
      await database.work.query('DELETE FROM outbox WHERE workspace_id = $1 AND run_id = $2', [
        workspaceId,
        runId,
      ]);
    },
    count: async (): Promise<number | null> => {
      const text = 'SELECT count(*)::integer AS rows FROM outbox';
      const [found] = await database.work.query<{ rows: number }>(text).catch(() => []);
      return found?.rows ?? null;
    },
    close: async (graceMs: number): Promise<void> => {
      settings.WORKER_CLOSE_MS = graceMs;
      await dueRuns.onModuleDestroy();
      await database.close();
    },
  };
}

async function insert(database: Database, runs: readonly QueuedRun[]): Promise<void> {
  await database.work.query(
    `INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, dispatched, due_at)
      SELECT $1, run_id, provider, queue, 0, true, router_now() + delay * interval '1 millisecond'
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::integer[]) AS each (run_id, provider, queue, delay)
      ON CONFLICT DO NOTHING`,
    [
      workspaceId,
      runs.map(({ runId }) => runId),
      runs.map(({ provider }) => provider),
      runs.map(({ queue }) => rowQueue(queue)),
      runs.map(({ delayMs = 0 }) => delayMs),
    ],
  );
}

// The floor for draining waiting runs: BullMQ alone, whose job makes the HTTP call between three prepared
// statements on one row. Reads its settings as JSON from BARE, and prints the number of jobs once they are
// queued.
import { Queue, Worker } from 'bullmq';
import IORedis from 'ioredis';
import { Pool } from 'pg';
import { Agent, request } from 'undici';

const { databaseUrl, redisUrl, callUrl, body, jobs, concurrency } = JSON.parse(process.env.BARE ?? '{}');
const connection = () => new IORedis(redisUrl, { maxRetriesPerRequest: null });
const pool = new Pool({ connectionString: databaseUrl, max: 8 });
await pool.query('CREATE TABLE IF NOT EXISTS bare_drain (id text PRIMARY KEY, stage integer, output bytea)');
await pool.query(`INSERT INTO bare_drain SELECT n, 0 FROM generate_series(1, ${Number(jobs)}) AS n`);
const dispatcher = new Agent({ connections: concurrency });
const queue = new Queue('bare-drain', { connection: connection() });
for (let at = 0; at < jobs; at += 500) {
  await queue.addBulk(
    Array.from({ length: Math.min(500, jobs - at) }, (_each, index) => ({
      name: 'run',
      data: {},
      opts: { jobId: `run-${at + index + 1}`, removeOnComplete: true },
    })),
  );
}
const write = (name, text, values) => pool.query({ name, text, values });
new Worker(
  'bare-drain',
  async ({ id: jobId }) => {
    const id = jobId.slice('run-'.length);
    await write('claim', 'UPDATE bare_drain SET stage = 1 WHERE id = $1', [id]);
    await write('begin', 'UPDATE bare_drain SET stage = 2 WHERE id = $1', [id]);
    const reply = await request(callUrl, { dispatcher, method: 'POST', body });
    const output = Buffer.from(await reply.body.arrayBuffer());
    await write('end', 'UPDATE bare_drain SET stage = 3, output = $2 WHERE id = $1', [id, output]);
  },
  { connection: connection(), concurrency },
).on('error', () => {});
process.stdout.write(`${jobs}\n`);

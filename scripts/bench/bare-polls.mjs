// The floor for polling outstanding runs: BullMQ alone, whose job makes the HTTP call and is delayed again. Reads
// its settings as JSON from BARE, and prints the number of jobs once they are queued.
import { DelayedError, Queue, Worker } from 'bullmq';
import IORedis from 'ioredis';
import { Agent, request } from 'undici';

const { redisUrl, pollUrl, jobs, everyMs } = JSON.parse(process.env.BARE ?? '{}');
const connection = () => new IORedis(redisUrl, { maxRetriesPerRequest: null });
const dispatcher = new Agent({ connections: 200 });
const queue = new Queue('bare-polls', { connection: connection() });
for (let at = 0; at < jobs; at += 500) {
  await queue.addBulk(
    Array.from({ length: Math.min(500, jobs - at) }, () => ({
      name: 'poll',
      data: {},
      opts: { removeOnComplete: true, delay: Math.round(Math.random() * everyMs) },
    })),
  );
}
new Worker(
  'bare-polls',
  async (job, token) => {
    const { body } = await request(pollUrl, { dispatcher });
    JSON.parse(await body.text());
    await job.moveToDelayed(Date.now() + everyMs, token);
    throw new DelayedError();
  },
  { connection: connection(), concurrency: 200 },
).on('error', () => {});
process.stdout.write(`${jobs}\n`);

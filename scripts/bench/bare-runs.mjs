// The floors for a gateway, without any of our code: Fastify with one prepared statement on one row and one
// BullMQ job; a read of one row; the same bytes. Reads its settings as JSON from BARE, and prints its address.
import { Queue } from 'bullmq';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { v7 } from 'uuid';

const { databaseUrl, redisUrl, bytes = '' } = JSON.parse(process.env.BARE ?? '{}');
const pool = databaseUrl && new Pool({ connectionString: databaseUrl, max: 8 });
const queue =
  redisUrl && new Queue('bare', { connection: new Redis(redisUrl, { maxRetriesPerRequest: null }) });
const known = v7();
await pool?.query('CREATE TABLE IF NOT EXISTS bare_run (id uuid PRIMARY KEY, body bytea NOT NULL)');
await pool?.query('INSERT INTO bare_run VALUES ($1, $2)', [known, Buffer.from('{}')]);

const server = Fastify({ bodyLimit: 1024 * 1024 });
server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
);
server.post('/submit', async (request, reply) => {
  const id = v7();
  await pool.query({
    name: 'insert',
    text: 'INSERT INTO bare_run VALUES ($1, $2)',
    values: [id, request.body],
  });
  await queue?.add('run', {}, { jobId: id });
  return reply.code(201).send({ request_id: id });
});
server.get('/status', async () => {
  const { rows } = await pool.query({
    name: 'read',
    text: 'SELECT id, length(body) AS bytes FROM bare_run WHERE id = $1',
    values: [known],
  });
  return rows[0];
});
const body = Buffer.from(bytes);
server.get('/bytes', (_request, reply) => reply.type('application/json').send(body));
server.get('/unchanged', (_request, reply) => reply.code(304).send());
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);

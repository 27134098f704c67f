// The floor: Fastify alone, which answers GET /nodes with the bytes of the file BARE. Prints its address.
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';

const bytes = readFileSync(process.env.BARE ?? '');
const server = Fastify();
server.get('/nodes', (_request, reply) =>
  reply.header('content-type', 'application/json; charset=utf-8').send(bytes),
);
process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`);

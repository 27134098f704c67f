// The framework's share of a short answer: Nest on Fastify with one guard, and the same bytes. Prints its
// address.
import 'reflect-metadata';
import { Controller, Get, Module, Res, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

const body = Buffer.from(JSON.parse(process.env.BARE ?? '{}').bytes ?? '');

class Answers {
  bytes(reply) {
    reply.type('application/json').send(body);
  }
  unchanged(reply) {
    reply.code(304).send();
  }
}
class Guard {
  async canActivate() {
    return true;
  }
}
class App {}

// Node runs this file uncompiled, so decorators are called as plain functions.
for (const path of ['bytes', 'unchanged']) {
  Get(path)(Answers.prototype, path, Object.getOwnPropertyDescriptor(Answers.prototype, path));
  Res()(Answers.prototype, path, 0);
}
UseGuards(Guard)(Answers);
Controller()(Answers);
Module({ controllers: [Answers] })(App);

const adapter = new FastifyAdapter({ skipMiddie: true });
const app = await NestFactory.create(App, adapter, { logger: false, bodyParser: false });
await app.listen(0, '127.0.0.1');
process.stdout.write(`${await app.getUrl()}\n`);

#!/usr/bin/env node
// Runs a model for each line of a file: model-router-batch prompts.txt
// Needs BASE_URL, API_KEY, WEBHOOK_SECRET, PORT, and WEBHOOK_URL, the public address that leads to this port.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRouter, verifyWebhook } from 'model-router-client';

const { BASE_URL, API_KEY, WEBHOOK_SECRET, WEBHOOK_URL, PORT } = process.env;
const [file] = process.argv.slice(2);
const router = createRouter({ baseUrl: BASE_URL, key: API_KEY });
const lines = new Set(
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== ''),
);
const prompts = new Map();
let left = lines.size;

const server = createServer((request, response) => void receive(request, response));

async function receive(request, response) {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { data } = await verifyWebhook(Buffer.concat(chunks), request.headers, WEBHOOK_SECRET);
    // Answered first: whoever is slow here is told again.
    response.writeHead(204).end();
    await finish(data);
  } catch {
    if (!response.headersSent) response.writeHead(400).end();
  }
}

/** A webhook may come twice: the second time there is nothing left to do. */
async function finish(run) {
  const prompt = prompts.get(run.request_id);
  if (prompt === undefined) return;
  prompts.delete(run.request_id);
  const line = await router.collect(run).then(
    ({ output, costCents }) => ({ prompt, url: output.result.sample, costCents }),
    ({ bucket, message }) => ({ prompt, bucket, message }),
  );
  console.log(JSON.stringify(line));
  left -= 1;
  if (left === 0) server.close();
}

await new Promise((resolve) => server.listen(Number(PORT), resolve));
// The key says which run it is: this program may crash and be started again without paying twice.
const runs = await Promise.all(
  [...lines].map(async (prompt) => {
    const idempotencyKey = createHash('sha256').update(`${file} ${prompt}`).digest('hex');
    const options = { idempotencyKey, webhookUrl: WEBHOOK_URL };
    const run = await router.submit('bfl/flux-2-pro', { prompt }, options);
    prompts.set(run.request_id, prompt);
    return run;
  }),
);
// A run may have completed before its id was known here, or in a life before this one.
for (const run of runs) if ((await router.status(run)).status === 'COMPLETED') await finish(run);

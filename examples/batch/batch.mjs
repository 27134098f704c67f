#!/usr/bin/env node
// Runs a model for each line of a file: model-router-batch prompts.txt
// Needs BASE_URL, API_KEY, WEBHOOK_SECRET, PORT, and WEBHOOK_URL, the public address that leads to this port.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
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
    // Answer first: a slow receiver is called again.
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
  report(line);
}

function report(line) {
  console.log(JSON.stringify(line));
  left -= 1;
  if (left === 0) server.close();
}

/** Until the router takes it. The key says which run it is, for 24 hours: repeated with it, nothing is paid twice. */
async function submit(prompt) {
  const idempotencyKey = createHash('sha256').update(`${file} ${prompt}`).digest('hex');
  for (;;) {
    try {
      return await router.submit('bfl/flux-2-pro', { prompt }, { idempotencyKey, webhookUrl: WEBHOOK_URL });
    } catch (error) {
      // The runs of this minute are spent. The client itself has waited for as long as the line was full.
      if (error.bucket === 'rate_limited') await sleep(60_000 - (Date.now() % 60_000));
      else if (error.bucket !== 'deadline_exceeded') throw error;
    }
  }
}

async function start(prompt) {
  const run = await submit(prompt).catch(({ bucket, message }) => report({ prompt, bucket, message }));
  // A line that the router does not take stops no other; it is tried again when the program is started again.
  if (run === undefined) return;
  prompts.set(run.request_id, prompt);
  // It may have completed before its id was known here, or in a life of this program before this one.
  if ((await router.status(run)).status === 'COMPLETED') await finish(run);
}

await new Promise((resolve) => server.listen(Number(PORT), resolve));
// A few at a time: however long the file is, the router is not flooded.
const waiting = lines.values();
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (const prompt of waiting) await start(prompt);
  }),
);

#!/usr/bin/env node
// Serves the page and the route as Next would: model-router-web-app
// Needs BASE_URL and API_KEY; PORT is 3000 unless it is given.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { POST } from './app/api/images/route.js';

const page = readFileSync(new URL('app/page.html', import.meta.url));

const server = createServer((incoming, outgoing) => {
  const asked = `${incoming.method} ${incoming.url}`;
  if (asked === 'GET /') {
    outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  } else if (asked === 'POST /api/images') {
    void answer(incoming, outgoing);
  } else {
    outgoing.writeHead(404).end();
  }
});

async function answer(incoming, outgoing) {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const body = { body: Readable.toWeb(incoming), duplex: 'half' };
  try {
    const response = await POST(
      new Request('http://localhost/api/images', { method: 'POST', ...body, signal: gone.signal }),
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  } catch (error) {
    console.error(error);
    outgoing.writeHead(500).end();
  }
}

server.listen(Number(process.env.PORT ?? 3000), () =>
  console.log(`http://localhost:${server.address().port}`),
);

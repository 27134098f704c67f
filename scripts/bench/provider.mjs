// A provider that only waits: OpenAI's images after `takesMs`, and Black Forest Labs' runs, which are ready after
// `takesMs`. POST /settings changes `takesMs`, and holds images back while `isClosed`; GET /counts returns how
// often it was called. Prints its address.
import { createServer } from 'node:http';

let takesMs = 0;
let opened = Promise.resolve();
let open = () => {};
let polls = 0;
let submissions = 0;
const file = Buffer.alloc(16 * 1024, 1);
const json = { 'content-type': 'application/json' };
const reply = (response, body) => response.writeHead(200, json).end(JSON.stringify(body));

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, origin());
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    if (pathname === '/settings') {
      const { isClosed = false, ...settings } = JSON.parse(body);
      ({ takesMs } = settings);
      open();
      if (isClosed) opened = new Promise((resolve) => (open = resolve));
      return reply(response, { takesMs });
    }
    if (pathname === '/counts') return reply(response, { polls, submissions });
    if (pathname === '/picture.png')
      return response.writeHead(200, { 'content-type': 'image/png' }).end(file);
    if (pathname === '/bfl/v1/get_result') {
      polls += 1;
      const ready = Date.now() >= Number(searchParams.get('readyAt'));
      const result = ready ? { sample: `${origin()}/picture.png` } : null;
      return reply(response, { id: searchParams.get('id'), status: ready ? 'Ready' : 'Pending', result });
    }
    submissions += 1;
    if (pathname.startsWith('/bfl/')) {
      const id = String(submissions);
      const url = `${origin()}/bfl/v1/get_result?id=${id}&readyAt=${Date.now() + takesMs}`;
      return reply(response, { id, polling_url: url });
    }
    const picture = { created: 1, data: [{ b64_json: 'AAAA' }] };
    // A timer of 0 ms takes one.
    if (takesMs === 0) return void opened.then(() => reply(response, picture));
    return void opened.then(() => setTimeout(() => reply(response, picture), takesMs));
  });
});
const origin = () => `http://127.0.0.1:${server.address()?.port}`;

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${origin()}\n`));

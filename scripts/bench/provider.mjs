// A provider that only waits: OpenAI's images after `takesMs`, its responses as events from `takesMs` on, one each
// 25 ms, and Black Forest Labs' runs, which are ready after `takesMs`. POST /settings changes `takesMs`, and holds images back while `isClosed`; GET /counts returns how
// often it was called. Prints its address.
import { createServer } from 'node:http';

let takesMs = 0;
let opened = Promise.resolve();
let open = () => {};
let polls = 0;
let submissions = 0;
const file = Buffer.alloc(16 * 1024, 1);
const json = { 'content-type': 'application/json' };
const eventMs = 25;
const deltas = 40;
const usage = { input_tokens: 300, output_tokens: 40, total_tokens: 340 };
const eventOf = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = eventOf({
  type: 'response.output_text.delta',
  item_id: 'msg',
  output_index: 0,
  delta: 'words ',
});
const completed = eventOf({
  type: 'response.completed',
  response: { id: 'resp', status: 'completed', output: [{ type: 'message', content: [] }], usage },
});

/** Writes the events of a response. Returns when the caller has left or has them all. */
async function sendEvents(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let nth = 0; nth < deltas && !response.destroyed; nth += 1) {
    response.write(delta);
    await new Promise((resolve) => setTimeout(resolve, eventMs));
  }
  response.end(completed);
}

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
    if (pathname === '/openai/responses') return void setTimeout(() => void sendEvents(response), takesMs);
    const picture = { created: 1, data: [{ b64_json: 'AAAA' }] };
    // A timer of 0 ms takes one.
    if (takesMs === 0) return void opened.then(() => reply(response, picture));
    return void opened.then(() => setTimeout(() => reply(response, picture), takesMs));
  });
});
const origin = () => `http://127.0.0.1:${server.address()?.port}`;

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${origin()}\n`));

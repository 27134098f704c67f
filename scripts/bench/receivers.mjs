// Twenty receivers of webhooks, on 127.0.0.1 to 127.0.0.20 of one port, that answer at once. POST /settings holds
// their answers back while `isClosed`; GET /counts returns how many calls came and were answered. Prints the address
// of the first.
import { createServer } from 'node:http';

let opened = Promise.resolve();
let open = () => {};
let calls = 0;
let answered = 0;

function answer(request, response) {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', async () => {
    if (request.url === '/settings') {
      open();
      if (JSON.parse(body).isClosed) opened = new Promise((resolve) => (open = resolve));
      return response.end('{}');
    }
    if (request.url === '/counts') return response.end(JSON.stringify({ calls, answered }));
    calls += 1;
    await opened;
    answered += 1;
    return response.end();
  });
}

const listen = (host, port) =>
  new Promise((resolve) => {
    const server = createServer(answer);
    server.keepAliveTimeout = 60_000;
    server.listen(port, host, () => resolve(server.address().port));
  });

const port = await listen('127.0.0.1', 0);
for (let nth = 2; nth <= 20; nth += 1) await listen(`127.0.0.${nth}`, port);
process.stdout.write(`http://127.0.0.1:${port}\n`);

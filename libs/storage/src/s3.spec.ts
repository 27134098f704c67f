import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import { S3Store } from './s3.js';

/** A service, or a proxy in front of it, that sends objects without their length. */
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write('in ');
  response.end('chunks');
});
let client: S3Client;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new S3Client({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    forcePathStyle: true,
  });
});
afterAll(async () => {
  client.destroy();
  await new Promise((resolve) => server.close(resolve));
});

it('reads an object that arrives in chunks completely, without a length', async () => {
  const store = new S3Store({ client, signer: client, bucket: 'assets' });
  const asset = await store.get('files/a.txt', new AbortController().signal);
  expect(asset).not.toHaveProperty('bytes');
  expect((await buffer(asset.body)).toString()).toBe('in chunks');
});

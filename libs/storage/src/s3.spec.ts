import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { buffer } from 'node:stream/consumers';
import { S3Client } from '@aws-sdk/client-s3';
import { ScriptedServer } from '../../../test/harness/scripted-server.js';
import { S3Store } from './s3.js';

/** A service, or a proxy in front of it, that sends objects without their length. */
let server: ScriptedServer;
let client: S3Client;
beforeAll(async () => {
  server = await ScriptedServer.start((_call, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('in ');
    response.end('chunks');
  });
  client = new S3Client({
    region: 'us-east-1',
    endpoint: server.url,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    forcePathStyle: true,
  });
});
afterAll(async () => {
  client.destroy();
  await server.stop();
});

it('reads an object that arrives in chunks completely, without a length', async () => {
  const store = new S3Store({ client, signer: client, bucket: 'assets' });
  const asset = await store.get('files/a.txt', new AbortController().signal);
  expect(asset).not.toHaveProperty('bytes');
  expect((await buffer(asset.body)).toString()).toBe('in chunks');
});

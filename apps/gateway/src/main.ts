import 'reflect-metadata';
import { LiveCatalog } from '#catalog';
import { boot } from '#observability';
import { createGateway } from './gateway.js';
import { processSettings } from './settings.module.js';

await boot({
  servers: () => {
    const { DATABASE_URL, REDIS_URL, S3_BUCKET, S3_ENDPOINT } = processSettings();
    return { DATABASE_URL, REDIS_URL, S3_ENDPOINT: S3_BUCKET && S3_ENDPOINT };
  },
  create: createGateway,
  start: async (app) => {
    const { HOST, PORT } = processSettings();
    await app.listen(PORT, HOST);
    const models = app.get(LiveCatalog).current.models.length;
    return { message: 'gateway is listening', url: await app.getUrl(), models };
  },
  closeMs: () => processSettings().CLOSE_TIMEOUT_MS,
  reload: (app) => app.get(LiveCatalog).renew(),
});

import 'reflect-metadata';
import { LiveCatalog } from '#catalog';
import { provideSettings } from '#infrastructure';
import { boot } from '#observability';
import { createGateway } from './gateway.js';
import { readGatewaySettings } from './settings.js';

await boot({
  settings: () => provideSettings('gateway', readGatewaySettings(process.env)),
  create: createGateway,
  start: async (app, { HOST, PORT }) => {
    await app.listen(PORT, HOST);
    const models = app.get(LiveCatalog).current.models.length;
    return { message: 'gateway is listening', url: await app.getUrl(), models };
  },
  closeMs: ({ CLOSE_TIMEOUT_MS }) => CLOSE_TIMEOUT_MS,
  reload: (app) => app.get(LiveCatalog).renew(),
});

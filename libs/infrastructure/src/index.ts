export { DatabaseFigures } from './database-figures.js';
export { InfrastructureModule } from './infrastructure.module.js';
export { StoreIdentity } from './store-identity.js';
export { provideSettings, SETTINGS, SettingsModule } from './settings.module.js';

export { DatabaseFigures } from './database-figures.js';
export { InfrastructureModule } from './infrastructure.module.js';
export { provideSettings, SETTINGS, SettingsModule } from './settings.module.js';

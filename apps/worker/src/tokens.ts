/** Injection tokens of what is no class. */
export const SETTINGS = Symbol('settings');
export const LOG = Symbol('log');
export const PROVIDERS = Symbol('providers');
export const TRANSPORT = Symbol('transport');

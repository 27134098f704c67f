/** Injection tokens of what is no class. */
export const TRANSPORT = Symbol('transport');
export const TRACING = Symbol('tracing');
export const STORAGE = Symbol('storage');

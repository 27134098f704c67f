/** Injection tokens of what is no class. */
export const TRANSPORT = Symbol('transport');
export const STORAGE = Symbol('storage');

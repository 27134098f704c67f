import { fileURLToPath } from 'node:url';

/** The folder beside the compiled gateway that contains the packages of the clients. */
export const packagesFolder = fileURLToPath(new URL('../../clients', import.meta.url));

import { pathToFileURL } from 'node:url';
import { constants, runInThisContext } from 'node:vm';

/** Loads a module with Node instead of Jest, as an application does. */
export const nativeImport = <Module>(file: string): Promise<Module> =>
  runInThisContext(`import(${JSON.stringify(pathToFileURL(file).href)})`, {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }) as Promise<Module>;

/**
 * An object as such modules know it, because each realm has its own prototypes and Jest runs tests in another realm.
 */
export const plain = (object: object): object =>
  (runInThisContext('Object.fromEntries') as typeof Object.fromEntries)(Object.entries(object));

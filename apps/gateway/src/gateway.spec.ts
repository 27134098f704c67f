import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { routes } from '#schemas';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { GatewayModule } from './gateway.module.js';

/** Method and path of every route that the controllers have, in the words of OpenAPI. */
function* served(): Generator<string> {
  for (const controller of controllers(GatewayModule)) {
    const prefixes = [Reflect.getMetadata(PATH_METADATA, controller)].flat();
    for (const name of Object.getOwnPropertyNames(controller.prototype)) {
      const handler = controller.prototype[name];
      const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler)];
      if (method === undefined) continue;
      for (const prefix of prefixes)
        for (const path of [Reflect.getMetadata(PATH_METADATA, handler)].flat())
          yield `${method} /${[prefix, path].filter((part) => part !== '/').join('/')}`
            .replaceAll(/:requestId\b/g, ':request_id')
            .replaceAll(/:(\w+)/g, '{$1}')
            .replace('*', '{key}');
    }
  }
}

function controllers(module: Type): Type[] {
  const imports: (Type | { module: Type })[] = Reflect.getMetadata(MODULE_METADATA.IMPORTS, module) ?? [];
  const own: Type[] = Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? [];
  return [...own, ...imports.flatMap((each) => ('module' in each ? [] : controllers(each)))];
}

it('serves every route of the reference, and no other', () => {
  // Ids of three segments name no model: those routes only say so.
  const expected = new Set([...served()].filter((route) => !route.includes('{variant}')));
  expect(expected.size).toBeGreaterThan(12);
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...expected].sort());
});

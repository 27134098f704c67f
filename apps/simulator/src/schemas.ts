import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ErrorObject, Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { simulatorFolder } from './folder.js';

/** A problem in a submission. `at` is its path from the top of the body. */
export interface Fault {
  at: readonly (string | number)[];
  text: string;
}

/**
 * Checks submissions against the provider's own schemas, which `scripts/provider-schemas.mjs` writes to
 * `apps/simulator/schemas`. Reads them at the first submission and compiles each when needed, to keep startup fast.
 */
export class Schemas {
  private files: { address: RegExp; schema: object; check?: ValidateFunction }[] | undefined;

  constructor(private readonly provider: string) {}

  /** `url` is relative to the provider's base. Undefined if the body is valid or the URL has no schema. */
  faultOf(url: string, body: object): Fault | undefined {
    const [address = ''] = url.split('?');
    this.files ??= readSchemas(this.provider);
    const file = this.files.find((each) => each.address.test(address));
    if (!file) return undefined;
    file.check ??= new Ajv2020({ strict: false, validateFormats: false, unicodeRegExp: false }).compile(
      file.schema,
    );
    return file.check(body) ? undefined : faultIn(file.check.errors ?? []);
  }
}

/** If all alternatives fail, reports the deepest error, because its alternative is most likely the intended one. */
function faultIn(errors: readonly ErrorObject[]): Fault {
  const places = errors.map(({ instancePath, params, message = 'is not valid' }) => {
    const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
    const member = missingProperty ?? additionalProperty;
    const at = instancePath.split('/').slice(1);
    return { at: member === undefined ? at : [...at, member], text: message };
  });
  return places.reduce((one, other) => (other.at.length > one.at.length ? other : one));
}

function readSchemas(provider: string) {
  const folder = path.join(simulatorFolder, 'schemas', provider);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => {
    const file = readFileSync(path.join(folder, name), 'utf8');
    const { path: address, schema } = JSON.parse(file) as { path: string; schema: object };
    return { address: new RegExp(`^${address.replaceAll(/\{\w+\}/g, '[^/:]+')}$`), schema };
  });
}

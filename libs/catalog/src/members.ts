import { type FieldError, InputRejection } from '#errors';
import { membersOf, textAt, valueAt } from '#schemas';
import { inputErrors } from './check-input.js';
import type { Model } from './model.js';
import type { MemberValue } from './model-row.js';

type Body = Readonly<Record<string, unknown>>;

/** The members that name the model and that the body leaves to the router. */
export const missingMembers = ({ members = {} }: Model, parsedBody: Body): Record<string, MemberValue> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(parsedBody, name)));

/** The partner's address for this input. */
export function addressFor({ upstream, variants }: Model, parsedBody: Body): Record<string, string> {
  const variant = variants.find(({ holds }) =>
    holds.some((pointer) => (valueAt(parsedBody, pointer) ?? null) !== null),
  );
  return { ...upstream, ...variant?.upstream };
}

/** Throws `InputRejection` with every failing field. */
export function checkInput(model: Model, parsedBody: Body, bytes: Uint8Array): void {
  const failing = inputErrors(model, parsedBody);
  const fields = failing.length > 0 ? failing : hiddenMemberErrors(model, parsedBody, bytes);
  if (fields.length > 0) throw new InputRejection(fields);
}

/**
 * A parser takes the first of two members of one name, or the last; some take a name in any case. None of them may
 * find another model than the one of the path in a body that has passed.
 */
function hiddenMemberErrors(model: Model, parsedBody: Body, bytes: Uint8Array): FieldError[] {
  const { members = {} } = model;
  const names = new Map(Object.keys(members).map((name) => [anyCase(name), name]));
  if (!Object.keys(parsedBody).some((name) => names.has(anyCase(name)))) return [];
  for (const place of membersOf(bytes)) {
    const name = names.get(anyCase(place.name));
    if (name === undefined) continue;
    const value = JSON.parse(textAt(bytes, place)) as unknown;
    if (value === members[name]) continue;
    const errors = inputErrors(model, { ...parsedBody, [name]: value });
    return errors.map((error) => ({ ...error, loc: ['body', place.name] }));
  }
  return [];
}

/** Equal for names that a parser which ignores case takes for one: that includes the long s and the Kelvin sign. */
const anyCase = (name: string): string => name.toLowerCase().toUpperCase();

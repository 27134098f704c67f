import type { Input, Schema } from '../../../api/model-document.ts';

/** A part of the input for which the form has no field. */
export interface Extra {
  path: (string | number)[];
  value: unknown;
}

/** Up to this many optional inputs stay unfolded. */
const maxUnfolded = 3;

/** Which top-level fields are shown at once, and which are in the section that can be folded. */
interface FormLayout {
  first: string[];
  rest: string[];
  /** How many fields of the section hold a value. It can't be folded while there are any: what is sent is shown. */
  filled: number;
  /** Whether the section starts unfolded. */
  isShort: boolean;
}

/** `shown` is the schema as the form shows it. Required fields come first. */
export function layoutOf({ properties = {}, required = [] }: Schema, input: Input): FormLayout {
  const names = Object.keys(properties);
  const isFirst = (name: string) => required.includes(name) || /^(prompt|text|messages)$/.test(name);
  const rest = names.filter((name) => !isFirst(name));
  const some = names.filter(isFirst);
  const first = some.length === 0 ? rest.splice(0, maxUnfolded) : some;
  return {
    first,
    rest,
    filled: rest.filter((name) => input[name] !== undefined).length,
    isShort: rest.length <= maxUnfolded,
  };
}

/**
 * The parts of the input that are sent but have no field in the form: unknown members at any depth, and values of
 * another kind than their field. `shown` is the schema as the form shows it.
 */
export function extrasOf(shown: Schema, input: unknown, path: Extra['path'] = []): Extra[] {
  if (input === undefined) return [];
  const branches = branchesOf(shown);
  if (branches.length > 0) {
    // The form shows the branch that fits best.
    const all = branches.map((branch) => extrasOf(branch, input, path));
    return all.reduce((best, each) => (each.length < best.length ? each : best));
  }
  if (Array.isArray(input)) {
    if (shown.items === undefined) return [{ path, value: input }];
    const { items } = shown;
    return input.flatMap((item, place) => extrasOf(items, item, [...path, place]));
  }
  if (typeof input === 'object' && input !== null) {
    const { properties } = shown;
    if (properties === undefined) return [{ path, value: input }];
    return Object.entries(input).flatMap(([name, value]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return property === undefined
        ? [{ path: [...path, name], value }]
        : extrasOf(property, value, [...path, name]);
    });
  }
  return isShownAs(shown, input) ? [] : [{ path, value: input }];
}

/** The choices of a field, each with the members that they share. */
function branchesOf({ anyOf, oneOf, allOf, ...own }: Schema): Schema[] {
  const choices = anyOf ?? oneOf;
  if (allOf !== undefined) {
    const whole = [own, ...allOf].reduce((all, part) => ({
      ...all,
      ...part,
      properties: { ...all.properties, ...part.properties },
    }));
    return [{ ...whole, ...(anyOf && { anyOf }), ...(oneOf && { oneOf }) }];
  }
  return (choices ?? []).map((choice) => ({
    ...own,
    ...choice,
    ...((own.properties ?? choice.properties) && { properties: { ...own.properties, ...choice.properties } }),
  }));
}

/** Whether a field of this type shows the value as it is. */
function isShownAs({ type, enum: choices, const: fixed }: Schema, value: unknown): boolean {
  if (fixed !== undefined) return value === fixed;
  if (choices !== undefined) return choices.includes(value);
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'number':
    case 'integer':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return false;
  }
}

/** The input without the part at the path. */
export function without<Value>(input: Value, [step, ...deeper]: Extra['path']): Value {
  if (step === undefined || typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) {
    const list: unknown[] = input;
    return (
      deeper.length === 0
        ? list.filter((_, place) => place !== step)
        : list.map((item, place) => (place === step ? without(item, deeper) : item))
    ) as Value;
  }
  const { [step]: part, ...rest } = input as Record<string, unknown>;
  return (
    deeper.length === 0 ? rest : { ...(input as Record<string, unknown>), [step]: without(part, deeper) }
  ) as Value;
}

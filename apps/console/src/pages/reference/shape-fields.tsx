import type { Shape } from '../../api/service-document.ts';
import { texts } from '../../texts/index.ts';
import { Prose } from './prose.tsx';
import classes from './reference.module.css';

const maxDepth = 5;

interface ShapeFieldsProps {
  shape: Shape;
  resolve: (shape: Shape) => Shape;
  depth?: number;
}

/** The members of an object, or of the objects in a list, each with its own members folded below. */
export function ShapeFields({ shape, resolve, depth = 0 }: ShapeFieldsProps) {
  const { properties = {}, required = [] } = objectIn(shape, resolve) ?? {};
  const entries = Object.entries(properties);
  if (entries.length === 0) return null;
  return (
    <dl className={classes.fields}>
      {entries.map(([name, member]) => {
        const { description = resolve(member).description } = member;
        const inner = depth < maxDepth ? objectIn(member, resolve) : undefined;
        return (
          <div key={name} className={classes.field}>
            <dt>
              <code>{name}</code> <span className="dimmed">{typeOf(member, resolve)}</span>
              {!required.includes(name) && <span className="dimmed"> · {texts.reference.optional}</span>}
            </dt>
            <dd>
              <Prose text={description} />
              {inner?.properties !== undefined && (
                <details>
                  <summary>{texts.reference.members(name)}</summary>
                  <ShapeFields shape={inner} resolve={resolve} depth={depth + 1} />
                </details>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The object that a schema describes, directly, as the items of a list, or as one of several choices. */
function objectIn(shape: Shape, resolve: (shape: Shape) => Shape): Shape | undefined {
  const own = resolve(shape);
  if (own.properties !== undefined) return own;
  if (own.items !== undefined) return objectIn(own.items, resolve);
  const parts = own.anyOf ?? own.oneOf ?? own.allOf ?? [];
  return parts.map((part) => objectIn(part, resolve)).find((found) => found !== undefined);
}

/** A short name of a schema's type, such as `string`, `"a" | "b"` or `object[]`. */
export function typeOf(shape: Shape, resolve: (shape: Shape) => Shape): string {
  const { type, enum: choices, const: only, items, anyOf, oneOf } = resolve(shape);
  if (only !== undefined) return JSON.stringify(only);
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined)
    return [...new Set(alternatives.map((each) => typeOf(each, resolve)))].join(' | ');
  if (type === 'array') return `${items === undefined ? 'any' : typeOf(items, resolve)}[]`;
  return [type].flat().join(' | ') || 'any';
}

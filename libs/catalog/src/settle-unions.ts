import type { ErrorObject } from './compile-schema.js';

/**
 * Replaces the errors of every failed union by those of one branch: the other branch beside `null`; else
 * the branch that got deepest into the value, and of equals one whose type fits.
 */
export function settleUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const settled: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf') {
      settled.push(error);
      continue;
    }
    // A union's own error follows directly behind those of its branches, inner unions settled before.
    let from = settled.length;
    while (from > 0 && isInside(settled[from - 1], error)) from -= 1;
    settled.push(...bestBranch(settled.splice(from), error));
  }
  return settled;
}

const isInside = (error: ErrorObject | undefined, union: ErrorObject): boolean =>
  error !== undefined &&
  error.schemaPath.startsWith(`${union.schemaPath}/`) &&
  `${error.instancePath}/`.startsWith(`${union.instancePath}/`);

function bestBranch(errors: readonly ErrorObject[], union: ErrorObject): ErrorObject[] {
  const branches = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    const [index = ''] = error.schemaPath.slice(union.schemaPath.length + 1).split('/');
    branches.set(index, [...(branches.get(index) ?? []), error]);
  }
  const candidates = [...branches.values()];
  const other = candidates.filter((branch) => !branch.every(asksForNull));
  const [best = []] = (other.length > 0 ? other : candidates).sort(
    (one, another) => fit(another, union) - fit(one, union),
  );
  return best;
}

const asksForNull = (error: ErrorObject): boolean =>
  error.keyword === 'type' && error.params['type'] === 'null';

const depth = ({ instancePath, keyword }: ErrorObject): number =>
  instancePath.split('/').length + Number(keyword === 'required' || keyword === 'additionalProperties');

/** Higher is better: each level into the value counts two, a fitting type at the union itself one. */
function fit(branch: readonly ErrorObject[], union: ErrorObject): number {
  const misfit = branch.some(
    (error) => error.keyword === 'type' && error.instancePath === union.instancePath,
  );
  return branch.reduce((deepest, error) => Math.max(deepest, depth(error)), 0) * 2 + Number(!misfit);
}

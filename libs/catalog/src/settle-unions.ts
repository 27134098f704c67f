import type { ErrorObject } from 'ajv';

/**
 * Replaces the errors of each failed union by those of one branch: the branch other than `null`, or else the branch
 * that got deepest into the value. Among equals, a branch whose type matches comes first. Branches with another tag
 * come last. If more than one branch of a `oneOf` matches, the union's own error stays.
 */
export function settleUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const settled: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') {
      settled.push(error);
      continue;
    }
    // A union's own error directly follows those of its branches, whose inner unions are already resolved.
    let from = settled.length;
    while (from > 0 && isInside(settled[from - 1], error)) from -= 1;
    const ofBranches = settled.splice(from);
    settled.push(
      ...(Array.isArray(error.params['passingSchemas']) ? [error] : bestBranch(ofBranches, error)),
    );
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
    const ofBranch = branches.get(index);
    if (ofBranch === undefined) branches.set(index, [error]);
    else ofBranch.push(error);
  }
  const candidates = [...branches.values()];
  const other = candidates.filter((branch) => !branch.every(expectsNull));
  const tagged = other.filter((branch) => !branch.some((error) => isWrongTag(error, union)));
  const [best = []] =
    [tagged, other, candidates]
      .find(({ length }) => length > 0)
      ?.sort((one, another) => fit(another, union) - fit(one, union)) ?? [];
  return best;
}

/** A wrong constant in a direct field of the value means that the branch has another tag. */
const isWrongTag = ({ keyword, instancePath }: ErrorObject, union: ErrorObject): boolean =>
  keyword === 'const' && instancePath.split('/').length === union.instancePath.split('/').length + 1;

const expectsNull = (error: ErrorObject): boolean =>
  error.keyword === 'type' && error.params['type'] === 'null';

const depth = ({ instancePath, keyword }: ErrorObject): number =>
  instancePath.split('/').length + Number(keyword === 'required' || keyword === 'additionalProperties');

/** Higher is better. Each level into the value counts two, a matching type at the union itself one. */
function fit(branch: readonly ErrorObject[], union: ErrorObject): number {
  const misfit = branch.some(
    (error) => error.keyword === 'type' && error.instancePath === union.instancePath,
  );
  return branch.reduce((deepest, error) => Math.max(deepest, depth(error)), 0) * 2 + Number(!misfit);
}

import type { z } from 'zod';

export interface RowProblem {
  path: readonly PropertyKey[];
  message: string;
}

/** Fields of catalog files that were renamed after the first release, with their new names. */
export const renamedFields: Readonly<Record<string, string>> = {
  as: '"format" in base64, "name" in asset_fields',
  at: '"path" ("paths" in upload)',
  at_most: '"max_count"',
  beside: '"upstream_fields"',
  both_spellings: '"snake_and_camel_case"',
  every_seconds: '"interval_seconds"',
  fails: '"errors"',
  files: '"file_results"',
  holds: '"contains"',
  is: '"equals", or "matches" for a pattern',
  life_seconds: '"ttl_seconds"',
  like: '"extends"',
  members: '"constants" in a model, "contains" in a variant, "fields" in asset_fields',
  most: '"max" ("max_each" beside characters and present)',
  of: '"max"',
  or: '"alternatives"',
  references: '"unbounded_fields" in a price, "asset_fields" in encode',
  refusals: '"retry_statuses"',
  result_at: '"result_paths"',
  settled: '"force_false"',
  where: '"path"',
  within: '"key"',
};

/** The same for values. */
export const renamedValues: Readonly<Record<string, string>> = {
  limited: '"capped"',
  partner_account: '"provider_account"',
  partner_failed: '"provider_failed"',
  partner_timeout: '"provider_timeout"',
  partner_unavailable: '"provider_unavailable"',
};

/**
 * The problems of a file that a schema rejected; parse with `reportInput`. Old names are reported alone, with the new
 * names, because they cause most other problems of such a file.
 */
export function rowProblems(issues: readonly z.core.$ZodIssue[]): readonly RowProblem[] {
  const renamed = new Map(
    issues.flatMap((issue) => renamedIn(issue, [])).map((problem) => [problem.path.join('/'), problem]),
  );
  return renamed.size > 0 ? [...renamed.values()] : issues.flatMap((issue) => fittingProblems(issue, []));
}

/** The problems of an issue. Of alternatives, those of the only one that accepts the kind of the value. */
function fittingProblems(issue: z.core.$ZodIssue, outer: readonly PropertyKey[]): RowProblem[] {
  const path = [...outer, ...issue.path];
  if (issue.code === 'invalid_union') {
    const [fitting = [], ...others] = issue.errors.filter((problems) => !problems.some(isWrongKind));
    if (fitting.length > 0 && others.length === 0) {
      return fitting.flatMap((each) => fittingProblems(each, path));
    }
  }
  return [{ path, message: issue.message }];
}

const isWrongKind = ({ code, path }: z.core.$ZodIssue): boolean =>
  code === 'invalid_type' && path.length === 0;

function renamedIn(issue: z.core.$ZodIssue, outer: readonly PropertyKey[]): RowProblem[] {
  const path = [...outer, ...issue.path];
  switch (issue.code) {
    case 'invalid_union':
      return issue.errors.flat().flatMap((each) => renamedIn(each, path));
    case 'unrecognized_keys':
      return issue.keys.flatMap((key) => renamedTo(renamedFields, key, [...path, key]));
    case 'invalid_value':
      return renamedTo(renamedValues, String(issue.input), path);
    default:
      return [];
  }
}

const renamedTo = (
  names: Readonly<Record<string, string>>,
  name: string,
  path: readonly PropertyKey[],
): RowProblem[] =>
  Object.hasOwn(names, name) ? [{ path, message: `"${name}" is now called ${names[name]}` }] : [];

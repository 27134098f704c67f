import { bucketNames } from '#errors';
import ts from 'typescript';
import { filesBelow, textOf } from './checkout-files.js';

/** A text that callers can get as `detail`, with `…` for the parts that a template fills in. */
interface SaidError {
  /** The bucket, or `registry` for texts without a bucket. */
  page: string;
  text: string;
}

/** Names in the sources whose texts become the `detail` of that bucket elsewhere. */
const indirect: Readonly<Record<string, string>> = {
  malformed: 'invalid_input',
  excessTexts: 'invalid_input',
  internalFailure: 'internal_error',
  linkRefusals: 'invalid_input',
  refundRefusals: 'invalid_input',
  tooMany: 'concurrency_limit_exceeded',
  unlessBroken: 'invalid_input',
};

const isBucket = (text: string): boolean => (bucketNames as string[]).includes(text);

/** Every text beside a bucket: of an error that is thrown, or of an outcome that is written. */
export function saidErrors(): SaidError[] {
  return ['apps/gateway/src', 'apps/worker/src', 'libs']
    .flatMap(filesBelow)
    .filter((name) => name.endsWith('.ts') && !/\.spec\.ts$|\/testing\/|^libs\/client\//.test(name))
    .flatMap((name) => {
      const isRegistry = /^apps\/gateway\/src\/(nodes|assets)\//.test(name);
      return saidIn(name).map(({ page, text }) => ({ page: isRegistry ? 'registry' : page, text }));
    });
}

function saidIn(name: string): SaidError[] {
  const source = textOf(name);
  const names = [...bucketNames, ...Object.keys(indirect)];
  if (!names.some((each) => source.includes(each))) return [];
  const said: SaidError[] = [];
  const visit = (node: ts.Node): void => {
    for (const [bucket, detail] of pairsIn(node)) {
      if (isBucket(bucket)) said.push(...textsOf(detail).map((text) => ({ page: bucket, text })));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.Latest));
  return said;
}

/** The buckets of a node, each with the expression of its text. */
function pairsIn(node: ts.Node): [bucket: string, detail: ts.Expression][] {
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    const [first, second] = node.arguments ?? [];
    const callee = node.expression;
    const named = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    const known = ts.isIdentifier(named) ? indirect[named.text] : undefined;
    if (known !== undefined) return (node.arguments ?? []).slice(0, 2).map((each) => [known, each]);
    return first && second && ts.isStringLiteral(first) ? [[first.text, second]] : [];
  }
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer) {
    const known = indirect[node.name.text];
    const { initializer } = node;
    if (known === undefined || !ts.isObjectLiteralExpression(initializer)) return [];
    return initializer.properties.filter(ts.isPropertyAssignment).map((each) => [known, each.initializer]);
  }
  if (!ts.isObjectLiteralExpression(node)) return [];
  const members = new Map(
    node.properties
      .filter(ts.isPropertyAssignment)
      .flatMap(({ name, initializer }) => (ts.isIdentifier(name) ? [[name.text, initializer] as const] : [])),
  );
  const bucket = members.get('bucket');
  const detail = members.get('publicDetail') ?? members.get('detail');
  return bucket && detail && ts.isStringLiteral(bucket) ? [[bucket.text, detail]] : [];
}

function textsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...textsOf(node.left), ...textsOf(node.right)];
  if (!ts.isTemplateExpression(node)) return [];
  return [node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')];
}

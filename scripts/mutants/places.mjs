// The places of a source file where one operator or constant can change: in its code and in the SQL of its templates.
import ts from 'typescript';
import { otherNumber, sqlPlaces } from './sql.mjs';

const operators = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
]);

/** Durations and sizes tune the service; tests promise what it answers, not how long or how much at once. */
const tuning = /(Ms|Seconds|Minutes|Hours|Days|Size|Bytes|Rows|Items|Lanes|Connections)$/i;

/** Each place: `{ start, end, text, near }`, with the replacement and the name of the function or statement around it. */
export function placesIn(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ES2023, true);
  const places = [];
  const add = (node, text, near) => places.push({ start: node.getStart(tree), end: node.end, text, near });

  const visit = (node, outer) => {
    if (isLeftOut(node)) return;
    const near = nameOf(node) ?? outer;
    if (ts.isBinaryExpression(node)) {
      const text = operators.get(node.operatorToken.kind);
      if (text !== undefined && !joinsText(node)) add(node.operatorToken, text, near);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      places.push({ start: node.getStart(tree), end: node.operand.getStart(tree), text: '', near });
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false', near);
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true', near);
    else if (ts.isNumericLiteral(node) && !tunes(node)) add(node, otherNumber(node.text), near);
    else if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      places.push(...sqlPlaces(withoutExpressions(node, tree), node.getStart(tree), near));
    ts.forEachChild(node, (child) => visit(child, near));
  };
  ts.forEachChild(tree, (node) => visit(node, `line ${tree.getLineAndCharacterOfPosition(node.pos).line}`));
  return places.sort((left, right) => left.start - right.start);
}

/** Types, declarations of other parts, texts for people, and timeouts. */
function isLeftOut(node) {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isDecorator(node)) return true;
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith('Error');
  return (
    ts.isCallExpression(node) &&
    /\b(log|logger)\.\w+$|^failpoint$|^AbortSignal\.timeout$/.test(node.expression.getText())
  );
}

const nameOf = (node) => (ts.isFunctionLike(node) ? (node.name ?? node.parent.name)?.getText() : undefined);

const isText = (node) =>
  ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node);

const joinsText = ({ left, right }) => isText(left) || isText(right);

/** A number that is all of a named duration or size, such as `const retryMs = 5 * 1000`. */
function tunes(node) {
  let each = node.parent;
  while (ts.isBinaryExpression(each) || ts.isParenthesizedExpression(each)) each = each.parent;
  const named =
    ts.isVariableDeclaration(each) || ts.isPropertyAssignment(each) || ts.isPropertyDeclaration(each);
  return (named && tuning.test(each.name.getText())) || (ts.isPropertyAssignment(each) && each.name === node);
}

/** The source of a template, in which each `${expression}` is a name of the same length. */
function withoutExpressions(node, tree) {
  const source = node.getText(tree);
  if (!ts.isTemplateExpression(node)) return source;
  const start = node.getStart(tree);
  let text = source;
  for (const { expression, literal } of node.templateSpans) {
    const from = expression.getFullStart() - 2 - start;
    const until = literal.getStart(tree) + 1 - start;
    text = text.slice(0, from) + 'x'.repeat(until - from) + text.slice(until);
  }
  return text;
}

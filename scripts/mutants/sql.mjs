// The places in SQL where one operator or constant can change.
const token =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$\$|\$\d+|[A-Za-z_][\w$]*|\d+(?:\.\d+)?|[-+*/<>=~!@#%^&|?:]+|[(),;.[\]]/g;

const isSql = (text) =>
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|FROM|AND|OR|CASE|RETURNS|interval)\b/.test(text);

const replaced = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['=', '<>'],
  ['<>', '='],
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['AND', 'OR'],
  ['OR', 'AND'],
  ['true', 'false'],
  ['false', 'true'],
]);

const endsAssignments = /^(WHERE|FROM|RETURNING|THEN|;|\$\$)$/;
const isOperand = (text) =>
  /^[\w")\]$']/.test(text) && !/^(SELECT|THEN|ELSE|WHEN|AND|OR|BY|RETURN)$/.test(text);

/** The places of a template that contains SQL, with `start` added to each offset. */
export function sqlPlaces(text, start, outer) {
  if (!isSql(text)) return [];
  const tokens = [...text.matchAll(token)]
    .map(({ 0: text, index }) => ({ text, index }))
    .filter(({ text }) => !/^(--|\/\*)/.test(text));
  const at = (nth) => tokens[nth]?.text ?? '';
  const places = [];
  // One entry per open parenthesis: whether `=` assigns, and the number of BETWEENs that still need their AND.
  let levels = [{ assigns: false, betweens: 0 }];
  let near = '';
  for (const [nth, { text, index }] of tokens.entries()) {
    const level = levels.at(-1);
    const add = (other, length = text.length) =>
      places.push({ start: start + index, end: start + index + length, text: other, near: outer + near });
    const before = at(nth - 1);
    const after = at(nth + 1);

    if (text === '(') levels.push({ assigns: false, betweens: 0 });
    else if (text === ')' && levels.length > 1) levels.pop();
    else if (text === '$$') levels = [{ assigns: false, betweens: 0 }];
    if (text === 'SET') level.assigns = true;
    else if (endsAssignments.test(text)) level.assigns = false;
    if (text === 'BETWEEN') level.betweens += 1;
    // One place per function, statement and common table expression.
    if (before === 'FUNCTION') near = ` ${text}`;
    else if (text === ';') near = `${near};`;
    else if (text === 'AS' && /^(\(|MATERIALIZED)$/.test(after)) near = `${near.split('/')[0]}/${before}`;

    if (text === 'AND' && level.betweens > 0) level.betweens -= 1;
    else if (text === 'NOT') {
      const isOperator =
        before === 'IS' || (!/^(NULL|MATERIALIZED)$/.test(after) && !isCreation(before, after, at(nth + 2)));
      if (isOperator) add('', text.length + 1);
    } else if (text === 'IS' && after === 'NULL') add('IS NOT');
    else if (/^\d/.test(text)) {
      if (before !== 'SELECT' && !isTypeArgument(before, at(nth - 2))) add(otherNumber(text));
    } else if (replaced.has(text) && isBinary(text, before, after, level)) add(replaced.get(text));
  }
  return places;
}

function isBinary(text, before, after, { assigns }) {
  if (text === 'OR') return after !== 'REPLACE';
  if (text === '=') return !assigns;
  return !/^[-+*/]$/.test(text) || (isOperand(before) && (isOperand(after) || after === '('));
}

/** `CREATE … IF NOT EXISTS name`, unlike `IF NOT EXISTS (SELECT …)`. */
const isCreation = (before, after, next) => before === 'IF' && after === 'EXISTS' && next !== '(';

const isTypeArgument = (before, type) =>
  before === '(' && /^(numeric|varchar|char|timestamptz|bit)$/.test(type);

export const otherNumber = (text) => {
  const number = Number(text);
  return String(number > 20 ? number * 2 : number + 1);
};

import type { Operation } from '../../api/service-document.ts';
import type { Language } from '../../parts/code-example.tsx';

/** The values of a route's parameters in the path and the query, by name. */
export type Values = Readonly<Record<string, string>>;

/** The address of a call. A parameter of the path without a value stays as the reference names it. */
export function addressOf({ path, parameters = [] }: Operation, values: Values): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (name, word: string) =>
    values[word] ? encodeURIComponent(values[word]) : name,
  );
  const query = new URLSearchParams(
    parameters.flatMap(({ name, in: place }) =>
      place === 'query' && values[name] ? [[name, values[name]]] : [],
    ),
  );
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/** A program that makes the call, with the key from a variable. */
export function requestCode(
  language: Language,
  operation: Operation,
  { origin, values }: { origin: string; values: Values },
): string {
  const { method, requestBody, security = [] } = operation;
  const address = `${origin}${addressOf(operation, values)}`;
  const isJson = requestBody?.content['application/json'] !== undefined;
  const hasKey = security.length > 0;
  switch (language) {
    case 'curl':
      return [
        `curl -sS ${method === 'GET' ? '' : `-X ${method} `}'${address}'`,
        ...(hasKey ? [`-H "X-API-Key: $API_KEY"`] : []),
        ...(isJson ? [`-H 'Content-Type: application/json'`, `-d @body.json`] : []),
        ...(requestBody && !isJson ? [`--data-binary @file`] : []),
      ].join(' \\\n  ');
    case 'typescript': {
      const headers = [
        ...(hasKey ? [`'X-API-Key': process.env.API_KEY`] : []),
        ...(isJson ? [`'Content-Type': 'application/json'`] : []),
      ];
      const members = [
        ...(method === 'GET' ? [] : [`  method: '${method}',`]),
        ...(headers.length > 0 ? [`  headers: { ${headers.join(', ')} },`] : []),
        ...(requestBody ? [`  body: ${isJson ? 'JSON.stringify(body)' : 'bytes'},`] : []),
      ];
      const options = members.length > 0 ? `, {\n${members.join('\n')}\n}` : '';
      return `const answer = await fetch('${address}'${options});\nconsole.log(answer.status, await answer.text());`;
    }
    case 'python': {
      const given = [
        ...(hasKey ? [`headers={"X-API-Key": os.environ["API_KEY"]}`] : []),
        ...(requestBody ? [isJson ? 'json=body' : 'content=data'] : []),
      ];
      const lines = [`    "${method}",`, `    "${address}",`, ...given.map((each) => `    ${each},`)];
      return [
        ...(hasKey ? ['import os', ''] : []),
        'import httpx',
        '',
        `answer = httpx.request(\n${lines.join('\n')}\n)`,
        'print(answer.status_code, answer.text)',
      ].join('\n');
    }
  }
}

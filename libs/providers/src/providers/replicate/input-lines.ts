import { fieldError, type FieldReader, pathOf } from '../../fields.js';
import { valueAt } from '../../pointer.js';

const line = /^- (?:input\.)?([\w.[\]]{1,200}): (.+)$/;

/** `detail` of a refused input: a line `- input.width: …` for each field, or one sentence; a failed run's `error`. */
export const inputLines: FieldReader = (body) => {
  const detail = valueAt(body, '/detail') ?? valueAt(body, '/error');
  if (typeof detail !== 'string') return undefined;
  const found = detail.split('\n').flatMap((text) => {
    const [, name, msg] = line.exec(text) ?? [];
    return name === undefined ? [] : [fieldError(pathOf(name), msg, 'invalid')];
  });
  return found.length > 0 ? found : [fieldError([], detail, undefined)];
};

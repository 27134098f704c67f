import { useCallback, useMemo, useState } from 'react';
import type { Input } from '../../api/model-document.ts';
import { texts } from '../../texts.ts';

/** An input as form and as text: the text is what is sent, and the form follows it wherever it is a JSON object. */
export function useInput(initial: Input) {
  const [text, setText] = useState(() => JSON.stringify(initial, null, 2));
  const parsed = useMemo(() => parse(text), [text]);
  const setInput = useCallback((input: Input) => setText(JSON.stringify(input, null, 2)), []);
  return { text, setText, setInput, ...parsed };
}

function parse(text: string): { input: Input; syntax?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { input: value as Input };
    return { input: {}, syntax: texts.model.notObject };
  } catch (error) {
    return { input: {}, syntax: error instanceof Error ? error.message : texts.model.notObject };
  }
}

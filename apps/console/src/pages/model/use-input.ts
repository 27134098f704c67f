import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { session } from '../../api/session.ts';
import type { Input } from '../../api/model-document.ts';
import { texts } from '../../texts/index.ts';

/**
 * The input as text, which is what is sent, and parsed for the form if it is a JSON object. If the session ends, the
 * text is stored under `name` and restored after the next sign-in in this tab.
 */
export function useInput(name: string, initial: Input) {
  const place = `model-router-input ${name}`;
  const [text, setText] = useState(() => sessionStorage.getItem(place) ?? JSON.stringify(initial, null, 2));
  const parsed = useMemo(() => parse(text), [text]);
  const setInput = useCallback((input: Input) => setText(JSON.stringify(input, null, 2)), []);
  const written = useRef(text);
  useEffect(() => {
    written.current = text;
  }, [text]);
  useEffect(() => {
    sessionStorage.removeItem(place);
    return () => {
      // A user who signs out leaves nothing behind.
      if (session.notice() === 'ended') sessionStorage.setItem(place, written.current);
    };
  }, [place]);
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

import { useCallback, useMemo, useState } from 'react';
import type { Input } from '../../api/model-document.ts';
import { texts } from '../../texts/index.ts';
import { type Draft, draftOf, keepDraft } from './drafts.ts';

/** The input of a run as text; null if it has expired. */
type Restored = string | null | undefined;

interface State extends Draft {
  /** The run in the address that the text belongs to. */
  seen: string | undefined;
  /** The run that was started with this text. */
  own: string | undefined;
}

export const emptyInput = '{}';

/**
 * The input as text, which is what is sent, and parsed for the form if it is a JSON object. It starts empty, with the
 * draft of this tab, or with the input of the run in the address. `restored` is that input, once it has been read.
 */
export function useInput(model: string, run: string | undefined, restored: Restored) {
  const [state, setState] = useState<State>(() => {
    const { of, text = emptyInput, filled } = draftOf(model) ?? {};
    if (filled !== undefined) keepDraft(model, { text });
    // A draft without a run, and a draft that changes this run, is newer than what the address shows.
    return { text, of, filled, seen: of === run ? run : undefined, own: undefined };
  });
  if (run !== state.seen) {
    if (run === undefined || run === state.own) setState({ ...state, seen: run });
    else if (restored !== undefined)
      setState({ ...state, seen: run, of: run, text: restored ?? state.text, filled: undefined });
  }
  const change = useCallback(
    (text: string, filled?: Draft['filled']) =>
      setState((now) => {
        keepDraft(model, { text, of: now.seen });
        return { ...now, text, of: now.seen, filled };
      }),
    [model],
  );
  const setInput = useCallback(
    (input: Input, filled?: Draft['filled']) => change(JSON.stringify(input, null, 2), filled),
    [change],
  );
  /** The text was submitted as this run. */
  const submitted = useCallback(
    (own: string, text: string) => {
      keepDraft(model, { text, of: own });
      setState((now) => ({ ...now, own, of: own, filled: undefined }));
    },
    [model],
  );
  const { text, filled } = state;
  const parsed = useMemo(() => parse(text), [text]);
  return { text, setText: change, setInput, submitted, filled, isPending: run !== state.seen, ...parsed };
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

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Input, ModelDocument } from '../../api/model-document.ts';
import { runInputQuery } from '../../api/run.ts';
import { sharedInputQuery } from '../../api/shared.ts';
import { indentedJson } from '../../parts/indented-json.ts';
import { constantsOf } from './form/form-schema.ts';

/**
 * The input of the run or the sample in the address, as indented text and without the members that name the model;
 * null if it has expired, and undefined while it is loading.
 */
export function useEarlierInput(
  run: string | undefined,
  { input }: ModelDocument,
  sample?: string,
): string | null | undefined {
  const ofRun = useQuery({ ...runInputQuery(run ?? ''), enabled: run !== undefined });
  const isSample = run === undefined && sample !== undefined;
  const ofSample = useQuery({ ...sharedInputQuery(sample ?? ''), enabled: isSample });
  const { data, error } = isSample ? ofSample : ofRun;
  return useMemo(() => {
    if (error !== null) return null;
    return data === undefined ? undefined : shownInput(data, input);
  }, [data, error, input]);
}

export function shownInput(text: string, schema: ModelDocument['input']): string {
  const constants = constantsOf(schema);
  const sent = JSON.parse(text) as Input;
  if (!constants.some((name) => Object.hasOwn(sent, name))) return indentedJson(text);
  const rest = Object.entries(sent).filter(([name]) => !constants.includes(name));
  return JSON.stringify(Object.fromEntries(rest), null, 2);
}

export const isSame = (one: string, other: string): boolean => indentedJson(one) === indentedJson(other);

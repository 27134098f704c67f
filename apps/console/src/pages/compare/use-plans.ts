import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type CostEstimate, costQuery, pauseMs } from '../../api/cost-estimate.ts';
import { type Input, type ModelDocument, modelDocumentQuery } from '../../api/model-document.ts';
import { type FieldProblem, Problem } from '../../api/problem.ts';
import { isSame } from '../model/earlier-input.ts';
import { mapInput } from './map-input.ts';

/** The input and the price for one model. */
export interface Plan {
  model: string;
  document: ModelDocument | undefined;
  text: string;
  /** The fields of the shared input that it doesn't take. */
  unsent: string[];
  isOwn: boolean;
  estimate: CostEstimate | undefined;
  fields: FieldProblem[];
  /** Why it can't be priced or run, besides fields. */
  error: Error | undefined;
  /** Whether the service has checked exactly this text and would accept it. */
  isReady: boolean;
}

/**
 * The plan of each model for the input of the first. `own` has the text of each model whose input is its own. Without a
 * valid input there is nothing to send.
 */
export function usePlans(
  models: readonly string[],
  base: ModelDocument,
  input: Input | undefined,
  own: readonly (string | undefined)[],
): Plan[] {
  const documents = useQueries({ queries: models.map(modelDocumentQuery) });
  const [first = ''] = models;
  const mapped = useMemo(
    () =>
      documents.map(({ data }, place) => {
        if (data === undefined || input === undefined) return { text: '', unsent: [] };
        if (place === 0) return { text: JSON.stringify(input, null, 2), unsent: [] };
        const { input: sent, unsent } = mapInput(input, base, data);
        return { text: JSON.stringify(sent, null, 2), unsent };
      }),
    // The documents of a comparison never change once they are there.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [base, input, documents.map(({ data }) => data !== undefined).join(), first],
  );
  const planned = mapped.map(({ text }, place) => own[place] ?? text);
  const [settled] = useDebouncedValue(planned.join('\n\0'), pauseMs);
  const settledTexts = settled.split('\n\0');
  const costs = useQueries({
    queries: models.map((model, place) => ({
      ...costQuery(model, settledTexts[place] ?? ''),
      enabled: isObject(settledTexts[place] ?? ''),
    })),
  });
  return models.map((model, place) => {
    const { data, error } = costs[place] ?? {};
    const document = documents[place];
    const fields = error instanceof Problem ? error.fields : [];
    const text = planned[place] ?? '';
    const isChecked = settledTexts[place] === text;
    return {
      model,
      document: document?.data,
      text,
      unsent: mapped[place]?.unsent ?? [],
      isOwn: own[place] !== undefined && !isSame(own[place], mapped[place]?.text ?? ''),
      estimate: error ? undefined : data?.estimate,
      fields,
      error: document?.error ?? (error && fields.length === 0 ? error : undefined),
      isReady: isChecked && data !== undefined && !error,
    };
  });
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

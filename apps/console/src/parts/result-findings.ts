import type { RunResult } from '../api/run-result.ts';
import { streamedText, type TextPlaces } from '../api/streamed-text.ts';
import { endingOf, type Findings, findingsIn, kindOfType } from './media.ts';

/**
 * The media and the text in a result. `modalities` are the model's declared outputs, and `places` those of the text in
 * its events.
 */
export function resultFindings(
  result: RunResult,
  modalities: readonly string[],
  places: TextPlaces = [],
): Findings {
  if (result.kind === 'events') {
    const text = streamedText(result.text, places);
    return { media: [], texts: text === '' ? [] : [text] };
  }
  if (result.kind === 'json') return findingsIn(result.value, modalities);
  if (result.kind === 'text') return { media: [], texts: [result.text] };
  const kind = kindOfType(result.contentType);
  if (kind === undefined) return { media: [], texts: [] };
  return {
    media: [{ kind, url: result.url, name: `result.${endingOf(result.contentType)}` }],
    texts: [],
  };
}

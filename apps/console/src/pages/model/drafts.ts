/** An input that was typed but not run, kept in this tab: never in the address, gone with the tab or at the sign-out. */
export interface Draft {
  text: string;
  /** The run whose input it changes. */
  of?: string | undefined;
  /** The field that another page has filled, and the model whose output it holds. */
  filled?: { field: string; from: string } | undefined;
}

const place = (model: string) => `model-router-draft ${model}`;

export function draftOf(model: string): Draft | undefined {
  const text = sessionStorage.getItem(place(model));
  return text === null ? undefined : (JSON.parse(text) as Draft);
}

export function keepDraft(model: string, draft: Draft): void {
  try {
    sessionStorage.setItem(place(model), JSON.stringify(draft));
  } catch {
    // The input has files inline and is larger than what a browser keeps for a tab.
    sessionStorage.removeItem(place(model));
  }
}

/** The state of the gallery, which is kept in the address. */
export interface OutputsSearch {
  only?: 'kept';
  model?: string;
  /** The run whose output is enlarged. */
  show?: string;
}

export const outputsSearch = ({ only, model, show }: Record<string, unknown>): OutputsSearch => ({
  ...(only === 'kept' && { only }),
  ...(typeof model === 'string' && /^[\w.-]+\/[\w.-]+$/.test(model) && { model }),
  ...(typeof show === 'string' && /^[0-9a-f-]{36}$/.test(show) && { show }),
});

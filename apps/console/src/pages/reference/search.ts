/** Whether the page shows the first generation of the API too. */
export function referenceSearch(search: Record<string, unknown>): { v1?: true } {
  return search['v1'] === true ? { v1: true } : {};
}

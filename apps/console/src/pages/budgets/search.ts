/** The page's state, which is kept in its address: the key for which the form of a new budget is open. */
export const budgetsSearch = ({ key }: Record<string, unknown>): { key?: string } =>
  typeof key === 'string' ? { key } : {};

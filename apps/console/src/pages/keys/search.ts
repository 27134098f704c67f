/** The page's state, which is kept in its address: whether the form for a new key is open. */
export const keysSearch = ({ new: isCreating }: Record<string, unknown>): { new?: true } =>
  isCreating === true ? { new: true } : {};

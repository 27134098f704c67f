export const workspacesSearch = ({ q }: Record<string, unknown>): { q?: string } =>
  typeof q === 'string' && q !== '' ? { q } : {};

export const queuesSearch = ({ look }: Record<string, unknown>): { look?: 'failed' } =>
  look === 'failed' ? { look } : {};

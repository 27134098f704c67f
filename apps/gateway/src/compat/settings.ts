/** The clients of other services in `COMPAT_CLIENTS`, each with what works. */
export const compatClients: Readonly<Record<string, string>> = {
  comfy: 'its header names',
  fal: 'its proxy and Authorization scheme',
};

export interface CompatSettings {
  COMPAT_CLIENTS: readonly string[];
}

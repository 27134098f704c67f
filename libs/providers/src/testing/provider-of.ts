import type { ProviderDefinition } from '../contract.js';
import { providerList } from '../providers.js';

export function providerOf(name: string): ProviderDefinition {
  const found = providerList.find((provider) => provider.name === name);
  if (!found) throw new Error(`there is no provider ${name}`);
  return found;
}

/** A public server with OpenAI's API. */
interface KnownServer {
  base: string;
  /** The public document that shows the base URL. */
  source: string;
  /** A free call that proves the key, where one is documented. */
  check?: { path: string; source: string };
}

/** The day on which the documents were read. */
export const readOn = '2026-11-29';

/** Servers that an import knows by name. */
export const knownServers: Readonly<Record<string, KnownServer>> = {
  cerebras: { base: 'https://api.cerebras.ai/v1', source: 'https://inference-docs.cerebras.ai' },
  deepseek: {
    base: 'https://api.deepseek.com',
    source: 'https://api-docs.deepseek.com/zh-cn/api/list-models',
    check: { path: 'models', source: 'https://api-docs.deepseek.com/zh-cn/api/list-models' },
  },
  fireworks: {
    base: 'https://api.fireworks.ai/inference/v1',
    source: 'https://docs.pipecat.ai/server/services/llm/fireworks',
  },
  groq: { base: 'https://api.groq.com/openai/v1', source: 'https://console.groq.com/docs/openai' },
  mistral: {
    base: 'https://api.mistral.ai/v1',
    source: 'https://github.com/mistralai/platform-docs-public',
  },
  moonshot: {
    base: 'https://api.moonshot.ai/v1',
    source: 'https://docs.jambonz.org/guides/features/bring-your-own-llm/moonshot-kimi/llms.txt',
    check: { path: 'users/me/balance', source: 'https://platform.moonshot.cn/docs/api/balance' },
  },
  together: {
    base: 'https://api.together.ai/v1',
    source: 'https://docs.together.ai/docs/inference/openai-compatibility',
  },
  zai: {
    base: 'https://api.z.ai/api/paas/v4',
    source: 'https://docs.z.ai/guides/develop/openai/python',
  },
};

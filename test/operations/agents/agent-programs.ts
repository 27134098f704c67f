import { at } from './agent-system.js';

export interface Agent {
  /** The arguments of a run with this prompt, without a person, that may write files. */
  args: (prompt: string, model?: string) => string[];
  program: string;
  env?: (key: string) => Record<string, string>;
  files?: (key: string, model?: string) => Record<string, string>;
  /** The current models of its vendor. */
  models: readonly string[];
}

const opencodeFiles = (key: string) => ({
  'opencode.json': JSON.stringify({
    provider: {
      anthropic: { options: { baseURL: at('/anthropic/v1'), apiKey: key } },
      openai: { options: { baseURL: at('/openai/v1'), apiKey: key } },
      google: { options: { baseURL: at('/gemini/v1beta'), apiKey: key } },
    },
  }),
});

const opencode = (vendor: string, models: readonly string[]): Agent => ({
  program: 'opencode',
  args: (prompt, model = models[0]) => ['run', '--model', `${vendor}/${model}`, prompt],
  files: opencodeFiles,
  models,
});

const continueWith = (models: readonly string[]): Agent => ({
  program: 'cn',
  args: (prompt) => ['--config', 'config.yaml', '--auto', '-p', prompt],
  files: (key, model = models[0]) => ({
    'config.yaml': [
      'name: router',
      'version: 1.0.0',
      'schema: v1',
      'models:',
      `  - name: ${model}`,
      '    provider: openai',
      `    model: ${model}`,
      `    apiBase: ${at('/openai/v1')}`,
      `    apiKey: ${key}`,
      '',
    ].join('\n'),
  }),
  models,
});

export const agents: Readonly<Record<string, Agent>> = {
  'Claude Code': {
    program: 'claude',
    args: (prompt, model) => ['-p', prompt, '--allowedTools', 'Write', ...(model ? ['--model', model] : [])],
    env: (key) => ({ ANTHROPIC_BASE_URL: at('/anthropic'), ANTHROPIC_API_KEY: key }),
    models: [
      'opus',
      'sonnet',
      'haiku',
      'claude-opus-5',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-fable-5-2',
    ],
  },
  Codex: {
    program: 'codex',
    args: (prompt, model) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      ...(model ? ['--model', model] : []),
      prompt,
    ],
    env: (key) => ({ ROUTER_KEY: key }),
    files: () => ({
      '.codex/config.toml': [
        'model = "gpt-5.5"',
        'model_provider = "router"',
        '[model_providers.router]',
        'name = "router"',
        `base_url = "${at('/openai/v1')}"`,
        'env_key = "ROUTER_KEY"',
        'wire_api = "responses"',
        '',
      ].join('\n'),
    }),
    models: ['gpt-5.5', 'gpt-5.6-sol', 'gpt-5.6-luna', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6-astra'],
  },
  'Gemini CLI': {
    program: 'gemini',
    args: (prompt, model) => ['--skip-trust', '-y', '-p', prompt, ...(model ? ['-m', model] : [])],
    env: (key) => ({ GOOGLE_GEMINI_BASE_URL: at('/gemini'), GEMINI_API_KEY: key }),
    files: () => ({ '.gemini/settings.json': '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' }),
    models: ['gemini-2.5-pro', 'gemini-3.1-pro-preview', 'gemini-3.5-flash', 'gemini-3.8-flash'],
  },
  // Continue sends a model to Responses if its name begins with gpt-5 or o, and every other one to Chat Completions.
  'Continue with Responses': continueWith(['gpt-5.5', 'gpt-5.6-sol', 'gpt-5.6-luna']),
  'Continue with Chat Completions': continueWith(['gpt-4.1', 'gpt-4.1-mini']),
  'opencode with Anthropic': opencode('anthropic', ['claude-opus-5', 'claude-haiku-4-5']),
  'opencode with OpenAI': opencode('openai', ['gpt-5.5', 'gpt-6-luna']),
  'opencode with Google': opencode('google', ['gemini-3.8-flash', 'gemini-2.5-flash']),
};

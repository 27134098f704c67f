export const settings = {
  title: 'Settings',
  about: 'Your workspace, its limits, and how much of them is in use.',
  credits: 'Credits',
  creditsText: 'What you have left to spend. Your operator adds credits.',
  balance: 'Balance',
  held: 'Reserved',
  markup: 'Markup',
  limits: 'Limits',
  limitsText:
    'Over a limit, queued runs wait and synchronous runs are rejected. Your operator can change these.',
  limit: {
    inflight: { name: 'Concurrent runs', meaning: 'Runs with a slot. Others wait in the backlog.' },
    committed_spend_cents: {
      name: 'Committed spend',
      meaning: 'The most that all runs with a slot can cost together.',
    },
    backlog: { name: 'Backlog', meaning: 'Runs waiting for a slot.' },
    runs_per_minute: { name: 'Runs per minute', meaning: 'Runs admitted this minute.' },
  },
  workspace: 'Workspace',
  workspaceText: 'Your workspace, and the key or token you’re signed in with.',
  name: 'Name',
  id: 'ID',
  credential: 'Key',
  token: 'Access token',
  scopes: 'Scopes',
};

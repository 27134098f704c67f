export const signIn = {
  title: 'Sign in',
  lead: 'Use an API key for your workspace, or an access token from your identity provider.',
  label: 'API key or access token',
  action: 'Sign in',
  kept: 'Stays in this tab until you close it, and is sent only to this service.',
  refused: 'That key or token isn’t valid. It may be mistyped, expired, or revoked.',
  scope:
    'That key or token works, but it lacks the “workspace” scope that the console needs. Use one that has it.',
  noKey: 'No key yet? Ask your operator to create one:',
  command:
    'npm run admin -- key create --workspace <name> --scopes catalog,run,requests,usage,workspace,manage',
  notices: {
    ended:
      'Your session has ended because its key or token is no longer valid. The rejected call cost nothing, and runs in progress continue. Sign in again to get back what you typed into a model’s input.',
    spentLink: 'This sign-in link no longer works. Each link works once, within 15 minutes.',
    unreadLink:
      'This sign-in link couldn’t be checked because the service didn’t respond. Open it again in a moment.',
  },
  goesOn: 'Your current session is still active.',
  replaces: (workspace: string) =>
    `This link signs you in to “${workspace}” and ends the current session in this tab. Continue only if you know who sent it. Sign in to “${workspace}”?`,
};

export const signIn = {
  title: 'Sign in',
  lead: 'Use an API key for your workspace, or an access token from your identity provider.',
  through: (provider: string) => `Sign in through ${provider}`,
  orKey: 'Or use an API key for your workspace, or an access token.',
  label: 'API key or access token',
  action: 'Sign in',
  linkTitle: 'Sign in with this link',
  linkLead: 'The link works once. Sign in now to use it, in this tab.',
  linkReplaces: 'The link works once. Signing in with it ends the current session in this tab.',
  keyInstead: 'Use a key instead',
  keepSession: 'Keep the current session',
  kept: 'Stays in the console’s open tabs until you close them, and is sent only to this service.',
  refused: 'That key or token isn’t valid. It may be mistyped, expired, or revoked.',
  scope:
    'That key or token works, but it lacks the “workspace” scope that the console needs. Use one that has it.',
  noKey: 'No key yet? Ask your operator for a sign-in link:',
  command: 'npm run admin -- link <workspace>',
  notices: {
    ended:
      'Your session has ended because its key or token is no longer valid. The rejected call cost nothing, and runs in progress continue. Sign in again to get back what you typed into a model’s input.',
    spentLink:
      'This sign-in link no longer works. Each link works once and for a limited time. Ask the sender for a new one.',
    unreadLink:
      'This sign-in link couldn’t be checked because the service didn’t respond. Try again in a moment.',
    declined: 'Your identity provider didn’t sign you in.',
    expired: 'That sign-in took too long or was already used. Start again.',
    noRole: 'You are in none of the groups that may use the console. Ask your operator to add you to one.',
    noWorkspace: 'Your account isn’t assigned to a workspace. Ask your operator to assign it.',
    tooMany: 'Your workspace has too many keys and sessions. Revoke some, or try again later.',
    unavailable: 'Your identity provider couldn’t be reached. Try again in a moment.',
  },
  goesOn: 'Your current session is still active.',
  replaces: (workspace: string) =>
    `This link signs you in to “${workspace}” and ends the current session in this tab. Continue only if you know who sent it. Sign in to “${workspace}”?`,
};

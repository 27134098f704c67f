export const share = {
  share: 'Share',
  shared: 'Shared',
  title: 'Share this run?',
  sharedTitle: 'This run is shared',
  text: 'Anyone with the link sees the model, the input, all that the provider returned, and the times of this run, without signing in. They see neither what you paid nor your workspace. The link ends when you revoke it, or with the result.',
  create: 'Create link',
  copy: 'Copy link',
  revoke: 'Revoke link',
  gone: 'This link doesn’t work',
  goneText: 'The run is no longer shared, or its result has expired.',
  took: (time: string) => `took ${time}`,
  expires: 'expires',
};

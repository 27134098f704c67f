export const samples = {
  pin: 'Pin as a sample',
  pinTitle: 'Pin this run as a sample?',
  pinText: (workspace: string, model: string) =>
    `Every workspace that may see ${model} will see the input and the output of this run on the model’s page, and anyone with the link can open them. They see neither the workspace ${workspace} nor what it paid. The run is kept, and its files count in the limits of ${workspace}.`,
  unpin: 'Unpin',
  unpinTitle: 'Unpin this sample?',
  unpinText:
    'The model’s page no longer shows this run, and the run’s link is revoked, also for those to whom the workspace gave it. The run stays kept.',
};

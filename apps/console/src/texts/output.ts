export const output = {
  image: 'Generated image',
  video: 'Generated video',
  audio: 'Generated audio',
  solid: 'Generated 3D model. Drag it or use the arrow keys to turn it.',
  broken: 'Can’t preview this file. Download it or open it instead.',
  download: 'Download',
  open: 'Open',
  use: 'Use as input',
  sendTo: 'Send to…',
  sendToHint: 'Find a model that takes this file',
  noneTakes: 'No model found',
  noField: (model: string) =>
    `The form of ${model} has no field for this file. Its link has been copied: paste it in the JSON view.`,
  copyLink: 'Copy link',
  raw: 'Raw output',
  bytes: (type: string) => `The result is a file of type ${type}.`,
};

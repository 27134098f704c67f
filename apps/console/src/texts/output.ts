export const output = {
  image: 'Generated image',
  video: 'Generated video',
  audio: 'Generated audio',
  solid: 'Generated 3D model. Drag it or use the arrow keys to turn it.',
  broken: 'Can’t preview this file. Download it or open it instead.',
  download: 'Download',
  open: 'Open',
  use: 'Use as input',
  copyLink: 'Copy link',
  raw: 'Raw output',
  bytes: (type: string) => `The result is a file of type ${type}.`,
};

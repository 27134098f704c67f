/** Pixels of every picture. */
export const pictureSize = { width: 512, height: 320 };

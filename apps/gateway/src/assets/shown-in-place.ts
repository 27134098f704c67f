const shown = /^(image|video|audio|font|model)\//;
/** An image that may hold scripts. */
const svg = /^image\/svg/;

/** Whether a browser may show the asset where its link stands; anything else is offered for download. */
export const isShownInPlace = (mediaType: string): boolean =>
  shown.test(mediaType.toLowerCase()) && !svg.test(mediaType.toLowerCase());

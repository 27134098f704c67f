/** Types that a browser shows without running what is in them. Anything with a comma might be read as a second type. */
const shown = /^(image|video|audio|font|model)\/[a-z0-9.+-]+ *(;[^,]*)?$/i;
const hasMarkup = /^[^;]*(\+|\/)(svg|xml|x?html)\b/i;

/**
 * How a browser opens a stored object whose link is followed. A partner's HTML or SVG must never run as a page of ours: what
 * may hold scripts is downloaded. Images that stand in a page are shown either way.
 */
export const dispositionOf = (mediaType: string): 'inline' | 'attachment' =>
  shown.test(mediaType) && !hasMarkup.test(mediaType) ? 'inline' : 'attachment';

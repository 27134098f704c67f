import { essenceOf } from '#schemas';

/** Types that a browser shows without running what is in them. */
const shown = /^(image|video|audio|font|model)\/[a-z0-9.+-]+$/;
const hasMarkup = /[+/](svg|xml|x?html)\b/;

/**
 * How a browser opens a stored object whose link is followed. A provider's HTML or SVG must never run as a page of ours: what
 * may hold scripts is downloaded. Images that stand in a page are shown either way.
 */
export const dispositionOf = (mediaType: string): 'inline' | 'attachment' =>
  // Browsers may read what follows a comma as a second type.
  !mediaType.includes(',') && shown.test(essenceOf(mediaType)) && !hasMarkup.test(essenceOf(mediaType))
    ? 'inline'
    : 'attachment';

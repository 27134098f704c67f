import { essenceOf } from '#schemas';

/** Types that a browser displays without running their content. */
const shown = /^(image|video|audio|font|model)\/[a-z0-9.+-]+$/;
const hasMarkup = /[+/](svg|xml|x?html)\b/;

/**
 * How a browser opens the link to a stored object. Types that may contain scripts are downloaded, because a
 * provider's HTML or SVG must never run on our origin. Images embedded in a page are shown either way.
 */
export const dispositionOf = (mediaType: string): 'inline' | 'attachment' =>
  // Browsers may treat the text after a comma as a second type.
  !mediaType.includes(',') && shown.test(essenceOf(mediaType)) && !hasMarkup.test(essenceOf(mediaType))
    ? 'inline'
    : 'attachment';

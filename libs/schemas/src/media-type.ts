const token = "[\\w!#$%&'*+.^`|~-]+";
const head = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*(?:;|$)`);

/**
 * The type and subtype of a `Content-Type` (RFC 9110), in lower case, without parameters and white space. Empty if
 * the text does not begin with a media type. Malformed parameters are ignored.
 */
export const essenceOf = (contentType: string | undefined): string =>
  head.exec(contentType ?? '')?.[1]?.toLowerCase() ?? '';

/** Whether a body of this type is a single JSON text, which `application/json-seq` is not. */
export const isJsonType = (contentType: string | undefined): boolean =>
  /[/+]json$/.test(essenceOf(contentType));

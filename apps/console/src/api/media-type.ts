const head = /^[ \t]*([\w.+-]+\/[\w.+-]+)[ \t]*(?:;|$)/;

/** The media type that a `Content-Type` names, in lower case and without parameters; empty when it names none. */
export const mediaTypeOf = (contentType: string): string => head.exec(contentType)?.[1]?.toLowerCase() ?? '';

const head = /^[ \t]*([\w.+-]+\/[\w.+-]+)[ \t]*(?:;|$)/;

/** The media type in a `Content-Type`, in lower case and without parameters; empty if there isn't one. */
export const mediaTypeOf = (contentType: string): string => head.exec(contentType)?.[1]?.toLowerCase() ?? '';

import { blobOf } from '../api/files.ts';

/** Fetches the file first, because browsers open cross-origin links instead of saving them. */
export async function saveUrl({ url, name }: { url: string; name: string }): Promise<void> {
  try {
    saveBlob(await blobOf(url), name);
  } catch {
    const link = linkTo(url);
    link.target = '_blank';
    link.rel = 'noreferrer noopener';
    link.click();
  }
}

export function saveBlob(blob: Blob, name: string): void {
  const link = linkTo(URL.createObjectURL(blob));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const linkTo = (url: string): HTMLAnchorElement => Object.assign(document.createElement('a'), { href: url });

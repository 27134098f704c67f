import { type JsonPlace, placesOf, replaceStrings, stringAt } from '#schemas';

/** An asset's URL in a provider's output, and its position. */
export interface FoundAsset extends JsonPlace {
  url: string;
}

const maxUrlLength = 8192;
const quote = '"'.charCodeAt(0);

/** Finds the URLs at the model's asset pointers. Other text, such as inline data, is left unchanged. */
export function findAssets(output: Uint8Array, pointers: readonly string[]): FoundAsset[] {
  return placesOf(output, pointers)
    .filter(({ start, end }) => output[start] === quote && end - start <= maxUrlLength)
    .map((place) => ({ ...place, url: stringAt(output, place) }))
    .filter(({ url }) => /^https?:/i.test(url) && URL.canParse(url));
}

/** Replaces the provider's URLs by those of the copies and leaves every other byte unchanged. */
export const withCopies = (
  output: Uint8Array,
  assets: readonly FoundAsset[],
  copies: ReadonlyMap<string, { url: string }>,
): Buffer =>
  replaceStrings(
    output,
    assets.flatMap((asset) => {
      const copy = copies.get(asset.url);
      return copy === undefined ? [] : [{ ...asset, text: copy.url }];
    }),
  );

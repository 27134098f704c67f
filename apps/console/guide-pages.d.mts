export const guideFolders: readonly string[];
export function guidePages(): {
  name: string;
  transform(markdown: string, file: string): { code: string; map: null } | undefined;
};

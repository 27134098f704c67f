const place = 'model-router-recent-models';
const maxRecent = 12;

/** IDs of the models last run in this browser, latest first. Nothing depends on them. */
export function recentModels(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    return [];
  }
}

export function rememberModel(id: string): void {
  const next = [id, ...recentModels().filter((each) => each !== id)].slice(0, maxRecent);
  localStorage.setItem(place, JSON.stringify(next));
}

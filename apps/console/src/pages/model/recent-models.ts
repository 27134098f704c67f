const place = 'model-router-recent-models';
const maxRecent = 12;

/** Ids of the models that were run in this browser, latest first: a convenience that nothing depends on. */
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

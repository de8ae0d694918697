const KEY = "gym-viewer-views";
const MAX_VIEWS = 20;

/** Queries that were saved in this browser. */
export function savedViews(): string[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(views) ? views.filter((view) => typeof view === "string").slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

export function saveView(query: string): string[] {
  return keep([...savedViews().filter((view) => view !== query), query].slice(-MAX_VIEWS));
}

export function deleteView(query: string): string[] {
  return keep(savedViews().filter((view) => view !== query));
}

function keep(views: string[]): string[] {
  try {
    localStorage.setItem(KEY, JSON.stringify(views));
  } catch {
    // A page opened from a file may have no storage; the views then last until it is closed.
  }
  return views;
}

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "gym-viewer-theme";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? "auto";
}

export function applyStoredTheme(): void {
  setTheme(storedTheme());
}

/** Follows the system unless told otherwise. */
export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

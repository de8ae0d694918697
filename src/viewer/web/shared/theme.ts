export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "gym-viewer-theme";
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === stored) ?? "auto";
  } catch {
    return "auto";
  }
}

/** Applies the selected theme; without one, follows the system. */
export function startTheme(): void {
  show(storedTheme());
  systemIsDark.addEventListener("change", () => show(storedTheme()));
}

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The selection lasts until the page is closed.
  }
  show(theme);
}

function show(theme: Theme): void {
  document.documentElement.dataset["theme"] =
    theme === "auto" ? (systemIsDark.matches ? "dark" : "light") : theme;
}

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "gym-viewer-theme";
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? "auto";
}

/** Shows the theme that was chosen last, and from then on follows the system where none was. */
export function startTheme(): void {
  show();
  systemIsDark.addEventListener("change", show);
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  show();
}

function show(): void {
  const theme = storedTheme();
  document.documentElement.dataset["theme"] =
    theme === "auto" ? (systemIsDark.matches ? "dark" : "light") : theme;
}

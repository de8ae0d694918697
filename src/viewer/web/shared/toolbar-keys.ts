import type { KeyboardEvent } from "react";

/** Arrow keys, Home and End move between the controls of a toolbar, of which one is a Tab stop. */
export function moveInToolbar(event: KeyboardEvent<HTMLElement>): void {
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>("button, a[href]")];
  const at = controls.findIndex((control) => control.matches(":focus"));
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: controls.length - 1 }[event.key];
  if (next === undefined || at === -1) return;
  event.preventDefault();
  controls[next]?.focus();
}

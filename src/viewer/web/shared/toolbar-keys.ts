import type { KeyboardEvent } from "react";

/** Moves between the controls of a toolbar, which is one Tab stop, with arrow keys, Home and End. */
export function moveInToolbar(event: KeyboardEvent<HTMLElement>): void {
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>("button, a[href]")];
  const at = controls.findIndex((control) => control.matches(":focus"));
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: controls.length - 1 }[event.key];
  if (next === undefined || at === -1) return;
  event.preventDefault();
  controls[next]?.focus();
}

import { useState } from "react";
import type { RunsAnswer, ViewerStatus } from "../../api-types.ts";
import { visibleText } from "../text/controls.ts";
import { Isolated } from "../text/plain.tsx";
import { StateBadge } from "./badges.tsx";
import { SignButton } from "./elements.tsx";
import { linesText, percentText, whenText } from "./format.ts";
import type { View } from "./route.ts";
import { setTheme, storedTheme, THEMES, type Theme } from "./theme.ts";
import { addressOf } from "./use-route.ts";

const TABS = [
  ["overview", "Overview"],
  ["tasks", "Tasks"],
  ["rollouts", "Rollouts"],
  ["compare", "Compare"],
  ["live", "Live"],
  ["files", "Files"],
] as const;

/** The tab of a view. */
function tabOf(view: View): string {
  return view.name === "rollout" || view.name === "row"
    ? "rollouts"
    : view.name === "task"
      ? "tasks"
      : view.name;
}

interface Props {
  view: View;
  /** Whether the page shows one run. */
  hasRun: boolean;
  runs: RunsAnswer | undefined;
  status: ViewerStatus | undefined;
  error: string | undefined;
  onHelp: () => void;
}

/** The current run, its pages, and the reading progress. */
export function Header({ view, hasRun, runs, status, error, onHelp }: Props) {
  const current = tabOf(view);
  // A comparison does not belong to a single run.
  const isOutside = view.name === "runs" || view.name === "board" || view.name === "optimization";
  const isRun = !isOutside && hasRun;
  const problem = error ?? (isRun && status ? problemOf(status) : undefined);
  return (
    <header className="top">
      <button type="button" className="skip" onClick={skipToContent}>
        Skip to content
      </button>
      <div className="top-line">
        {runs && !runs.single && !runs.static && (
          <a className="crumb" href="#/runs" aria-current={view.name === "runs" ? "page" : undefined}>
            Runs
          </a>
        )}
        {runs && !runs.single && (
          <a className="crumb" href="#/board" aria-current={view.name === "board" ? "page" : undefined}>
            Board
          </a>
        )}
        {isRun && runs && !runs.single && (
          <span className="dim" aria-hidden="true">
            /
          </span>
        )}
        {isRun && (
          <span className="run-name" title={status && visibleText(status.run.path)}>
            <Isolated text={status?.run.name ?? "…"} />
          </span>
        )}
        {isRun && status && (
          <>
            <StateBadge run={status.run} />
            <span className="run-about">
              {[status.run.environment, status.run.model, whenText(status.run.when)]
                .filter(Boolean)
                .map((text) => (
                  <Isolated key={text} text={text ?? ""} />
                ))}
            </span>
          </>
        )}
        <span className="spacer" />
        {isRun && status && <Reading status={status} />}
        <ThemeButton />
        <SignButton label="Help" title="Keys and queries (?)" onClick={onHelp}>
          ?
        </SignButton>
      </div>
      {problem && (
        <p className="problem-box" role="alert">
          {problem}
        </p>
      )}
      {isRun && (
        <nav aria-label="Pages of the run">
          {TABS.filter(
            ([name]) => !runs?.static || (name !== "compare" && name !== "live" && name !== "files"),
          ).map(([name, caption]) => (
            <a
              key={name}
              href={addressOf({ view: { name } })}
              aria-current={current === name ? "page" : undefined}
            >
              {caption}
            </a>
          ))}
        </nav>
      )}
    </header>
  );
}

/** The content of a rollout is its conversation, which follows the list and the figures. */
function skipToContent(): void {
  (document.getElementById("conversation") ?? document.getElementById("main"))?.focus();
}

function problemOf({ error, rollouts, indexing }: ViewerStatus): string | undefined {
  if (error !== null) return error;
  return rollouts.exists || indexing
    ? undefined
    : `The rollouts file was removed or renamed: ${rollouts.path}`;
}

function Reading({ status }: { status: ViewerStatus }) {
  const { rollouts, failures } = status;
  const torn = rollouts.torn_line ?? failures.torn_line;
  if (status.indexing)
    return (
      <span className="live-note" role="status">
        <progress
          value={rollouts.indexed_bytes}
          max={Math.max(1, rollouts.bytes)}
          aria-label="Reading the file"
        />{" "}
        reading {percentText(rollouts.indexed_bytes, rollouts.bytes)}
      </span>
    );
  return (
    <span className="live-note" role="status">
      {linesText(status)}
      {torn !== null && `, line ${torn} is not complete`}
    </span>
  );
}

const THEME_NAMES: Record<Theme, string> = { auto: "Auto", light: "Light", dark: "Dark" };

function ThemeButton() {
  const [theme, choose] = useState(storedTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <SignButton
      label={`Theme: ${THEME_NAMES[theme]}. Change to ${THEME_NAMES[next]}`}
      title={`Theme: ${THEME_NAMES[theme]}`}
      onClick={() => {
        setTheme(next);
        choose(next);
      }}
    >
      {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◑"}
    </SignButton>
  );
}

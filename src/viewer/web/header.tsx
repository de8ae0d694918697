import { useState } from "react";
import type { Overview, StatusFilter, ViewerStatus } from "../api-types.ts";
import { bytesText, countText, percentText, rewardText } from "./format.ts";
import { setTheme, storedTheme, THEMES } from "./theme.ts";

const THEME_SIGNS = { auto: "◐", light: "☀", dark: "☾" } as const;

interface Props {
  status: ViewerStatus | undefined;
  overview: Overview | undefined;
  error: string | undefined;
  page: "overview" | "other";
  onOverview: () => void;
  /** Shows only such rows. */
  onStatus: (status: StatusFilter) => void;
  onHelp: () => void;
}

/** Which file is shown, how it stands, and what concerns the whole page. */
export function Header({ status, overview, error, page, onOverview, onStatus, onHelp }: Props) {
  const [theme, setShown] = useState(storedTheme);
  const nextTheme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  return (
    <header className="top">
      <span className="file" title={status?.rollouts.path}>
        {status?.rollouts.name ?? "…"}
      </span>
      {status && overview && <Numbers status={status} overview={overview} onStatus={onStatus} />}
      <span className="spacer" />
      <span className="live" role="status" aria-live="polite">
        {error ? <span className="problem">{error}</span> : status && <Progress status={status} />}
      </span>
      <button type="button" aria-pressed={page === "overview"} onClick={onOverview} title="Overview (o)">
        Overview
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Theme: ${theme}; switch to ${nextTheme}`}
        title={`Theme: ${theme}`}
        onClick={() => {
          setTheme(nextTheme);
          setShown(nextTheme);
        }}
      >
        {THEME_SIGNS[theme]}
      </button>
      <button
        type="button"
        className="quiet"
        onClick={onHelp}
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
      >
        ?
      </button>
    </header>
  );
}

function Numbers({
  status,
  overview,
  onStatus,
}: {
  status: ViewerStatus;
  overview: Overview;
} & Pick<Props, "onStatus">) {
  const { rows } = status.rollouts;
  return (
    <span className="numbers-line dim">
      <span>
        {status.expected === null
          ? countText(rows, "rollout")
          : `${rows.toLocaleString("en")} of ${countText(status.expected, "rollout")}`}
      </span>
      <span>mean {rewardText(overview.mean)}</span>
      <span>{percentText(overview.passed, overview.rewarded)} passed</span>
      {status.failures.rows > 0 && (
        <button type="button" className="link problem" onClick={() => onStatus("failed")}>
          {countText(status.failures.rows, "failed attempt")}
        </button>
      )}
      {status.unreadable + status.invalid > 0 && (
        <button type="button" className="link problem" onClick={() => onStatus("invalid")}>
          {countText(status.unreadable + status.invalid, "invalid row")}
        </button>
      )}
    </span>
  );
}

function Progress({ status }: { status: ViewerStatus }) {
  const { bytes, indexed_bytes, torn_line } = status.rollouts;
  if (status.error !== null) return <span className="problem">{status.error}</span>;
  if (!status.rollouts.exists) return <span className="problem">The file is gone.</span>;
  if (indexed_bytes < bytes && torn_line === null)
    return (
      <>
        <progress max={bytes} value={indexed_bytes} aria-label="Reading the file" /> reading{" "}
        {bytesText(bytes)}
      </>
    );
  if (torn_line !== null)
    return (
      <span title="Being written, or cut off when the run was killed.">line {torn_line} is not complete</span>
    );
  const waiting = status.expected !== null && status.rollouts.rows < status.expected;
  return (
    <span className={waiting ? "following on" : "following"} title="New rows appear as they are written.">
      {waiting ? "following" : "up to date"}
    </span>
  );
}

import type { GridCell, ListedRow, RunHead, RunState } from "../../api-types.ts";
import { rewardMark, rewardText } from "./format.ts";

/** The reward of a row, or why it has none. */
export function RewardBadge({
  row,
  threshold,
}: {
  row: Pick<ListedRow, "reward" | "failure" | "readable" | "masked">;
  threshold: number;
}) {
  if (row.failure !== null) return <span className="badge failed">failed</span>;
  if (!row.readable) return <span className="badge failed">bad line</span>;
  const verdict = rewardMark(row.reward, threshold);
  return (
    <span
      className={`badge ${verdict}`}
      title={`reward ${row.reward ?? "missing"}${row.masked ? ", masked" : ""}`}
    >
      {rewardText(row.reward)}
    </span>
  );
}

const GLYPHS: Record<GridCell["state"], string> = {
  pass: "✓",
  part: "◐",
  zero: "·",
  none: "–",
  masked: "m",
  failed: "!",
  excluded: "×",
};
const WORDS: Record<GridCell["state"], string> = {
  pass: "passed",
  part: "partial reward",
  zero: "reward 0",
  none: "no reward",
  masked: "masked",
  failed: "failed",
  excluded: "excluded",
};

export function cellGlyph({ state, reward }: Pick<GridCell, "state" | "reward">): string {
  return state === "part" ? rewardText(reward).replace(/^0/, "").slice(0, 4) : GLYPHS[state];
}

export function cellWords({ state, reward, rollout, attempt }: GridCell): string {
  const again = attempt > 0 ? `, after ${attempt} failed ${attempt === 1 ? "attempt" : "attempts"}` : "";
  const value = state === "part" || state === "masked" ? ` ${rewardText(reward)}` : "";
  return `repeat ${rollout ?? "?"}: ${WORDS[state]}${value}${again}`;
}

const STATES: Record<RunState, string> = {
  running: "running",
  paused: "paused",
  done: "done",
  stopped: "incomplete",
  empty: "empty",
};

export function StateBadge({ run: { state, failed } }: { run: Pick<RunHead, "state" | "failed"> }) {
  if (failed === 0) return <span className={`state ${state}`}>{STATES[state]}</span>;
  return (
    <span className="state with-failures">{`${STATES[state]}, ${failed.toLocaleString("en")} failed`}</span>
  );
}

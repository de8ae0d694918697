import type { ListedRow } from "../api-types.ts";
import { rewardText, verdictOf } from "./format.ts";

/** The reward of a row, or why it has none. */
export function RewardBadge({
  row,
  threshold,
}: {
  row: Pick<ListedRow, "reward" | "failure" | "state" | "masked">;
  threshold: number;
}) {
  if (row.failure !== null) return <span className="badge failed">failed</span>;
  if (row.state === "unreadable") return <span className="badge failed">bad line</span>;
  const verdict = verdictOf(row.reward, threshold);
  return (
    <span
      className={`badge ${verdict}`}
      title={`reward ${row.reward ?? "missing"}${row.masked ? ", masked" : ""}`}
    >
      {rewardText(row.reward)}
    </span>
  );
}

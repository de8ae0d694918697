import { useMemo, useState } from "react";
import type { ListedRow } from "../api-types.ts";
import { type ChatEntry, chatOf } from "../chat-model.ts";
import { api } from "./api-client.ts";
import { RewardBadge } from "./badges.tsx";
import { Entry } from "./chat-entry.tsx";
import { countText, percentText } from "./format.ts";
import { Turns } from "./rollout-view.tsx";
import { useLoaded } from "./use-loaded.ts";

/** Repeats shown at first; the others come on demand. */
const COLUMNS = 6;
const MAX_REPEATS = 500;

interface Props {
  task: number;
  version: number;
  generation: number;
  threshold: number;
  onOpen: (row: ListedRow) => void;
}

/** The repeats of one task side by side. */
export function TaskView({ task, version, generation, threshold, onOpen }: Props) {
  const { value: page, error } = useLoaded(`${task}:${version}`, (signal) =>
    api.rollouts({ task, sort: "task", limit: MAX_REPEATS }, signal),
  );
  const [columns, setColumns] = useState(COLUMNS);
  if (error) return <p className="problem-box">{error}</p>;
  if (page === undefined) return <p className="note">Loading…</p>;
  const rewarded = page.rows.filter(({ reward, masked }) => reward !== null && !masked);
  const passed = rewarded.filter(({ reward }) => (reward ?? 0) >= threshold).length;
  return (
    <article className="task-view" aria-label={`Task ${task}`}>
      <header className="rollout-head">
        <div className="title-line">
          <h1>Task {task}</h1>
          <span className="dim">
            {countText(page.total, "attempt")}, {passed} of {rewarded.length} passed (
            {percentText(passed, rewarded.length)})
          </span>
        </div>
      </header>
      {page.rows.length === 0 && <p className="note">No rollout of this task is there (yet).</p>}
      <div className="columns">
        {page.rows.slice(0, columns).map((row) => (
          <Repeat
            key={`${row.source}:${row.line}`}
            row={row}
            generation={generation}
            threshold={threshold}
            onOpen={() => onOpen(row)}
          />
        ))}
        {page.rows.length > columns && (
          <button type="button" onClick={() => setColumns(columns + COLUMNS)}>
            {countText(page.rows.length - columns, "more", "more")}
          </button>
        )}
      </div>
    </article>
  );
}

function Repeat(props: { row: ListedRow; generation: number; threshold: number; onOpen: () => void }) {
  const { row, generation, threshold, onOpen } = props;
  const { value: answer, error } = useLoaded(`${row.source}:${row.line}:${generation}`, (signal) =>
    api.row(row, generation, signal),
  );
  const entries = useMemo(
    () => (answer?.raw === null ? chatOf(answer.row as Record<string, unknown>) : []),
    [answer],
  );
  const from = (where: ChatEntry["from"]) => entries.filter((entry) => entry.from === where);
  return (
    <section className="repeat" aria-label={`Rollout ${row.rollout ?? row.line}`}>
      <header>
        <button type="button" className="link" onClick={onOpen}>
          {row.source === "failures" ? `Failure ${row.line}` : `Rollout ${row.rollout ?? row.line}`}
        </button>
        <RewardBadge row={row} threshold={threshold} />
        {row.output_tokens !== null && <span className="dim">{countText(row.output_tokens, "token")}</span>}
      </header>
      {error && <p className="problem-box">{error}</p>}
      {row.failure !== null && <p className="problem">{row.failure}</p>}
      <details className="fields group">
        <summary>Fields</summary>
        {from("row").map((entry) => (
          <Entry key={entry.title} entry={entry} open={false} />
        ))}
      </details>
      <div className="turns">
        {from("input").map((entry, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the entries of a row never change
          <Entry key={place} entry={entry} open={false} />
        ))}
      </div>
      {answer && <Turns entries={from("output")} empty="The model gave no answer." />}
    </section>
  );
}

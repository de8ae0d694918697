import { useEffect, useRef, useState } from "react";
import { type RowRef, SORTS, type Sort, type ViewerStatus } from "../../api-types.ts";
import { RolloutView } from "../rollout/rollout-view.tsx";
import { api, type RunId } from "../shared/api-client.ts";
import { countText, percentText } from "../shared/format.ts";
import { QueryBar } from "../shared/query-bar.tsx";
import type { Parameters, View } from "../shared/route.ts";
import { useKeys } from "../shared/use-keys.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { MAX_LISTED, type RowList, useRows } from "../shared/use-rows.ts";
import { RowListView } from "./row-list.tsx";
import { useSelection } from "./use-selection.ts";

const SORT_NAMES: Record<Sort, string> = {
  file: "file order",
  task: "task",
  reward: "reward",
  tokens: "output tokens",
  turns: "turns",
  seconds: "duration",
  cost: "cost",
};

interface Props {
  run: RunId;
  view: View;
  parameters: Parameters;
  status: ViewerStatus;
  go: Go;
}

/** The list of rollouts, and the one that is chosen beside it. */
export function RolloutsPage({ run, view, parameters, status, go }: Props) {
  const { q, sort, order, pass } = parameters;
  const request = { q, sort, order, pass };
  const version = `${status.version}:${status.annotated}`;
  const list = useRows(run, request, version, status.generation);
  const selection = useSelection(run, view, request, list, { version, generation: status.generation }, go);
  const [chosen, setChosen] = useState<ReadonlyMap<string, RowRef>>(new Map());
  const [follows, setFollows] = useState(false);
  const main = useRef<HTMLElement>(null);
  const threshold = Number(pass ?? 1);
  const { ref } = selection;
  const isFilteredOut = list.ready && list.total === 0 && Boolean(q);

  const repeat = (by: number) => {
    if (view.name === "rollout" && view.rollout + by >= 0)
      go({ view: { ...view, rollout: view.rollout + by } });
  };
  useKeys({
    // Here and not in the rollout, which may be on its way.
    ...(view.name === "rollout" && { "[": () => repeat(-1), "]": () => repeat(1) }),
    j: () => void selection.move(1),
    k: () => void selection.move(-1),
    "/": () => document.getElementById("search")?.focus(),
    f: () => go({ parameters: { q: q === "is:failed" ? undefined : "is:failed" }, replace: true }),
  });
  // Follows a run under way: the newest row is shown as it comes. Failed attempts stand after all rows of the list, whenever they happened.
  const { rows } = status.rollouts;
  const newest = useRef(rows);
  useEffect(() => {
    if (follows && rows > newest.current)
      go({ view: { name: "row", ref: { source: "rollouts", line: rows } }, replace: true });
    newest.current = rows;
  }, [rows, follows, go]);
  // The rollout can be scrolled by keys at once.
  const where = ref && `${ref.source}:${ref.line}`;
  useEffect(() => {
    if (where === undefined) return;
    const isTyping = document.activeElement?.matches("input, select, textarea, .rows");
    if (!isTyping) main.current?.focus({ preventScroll: true });
    if (!window.location.hash.includes("item=")) main.current?.scrollTo(0, 0);
  }, [where]);
  const choose = (row: RowRef) => {
    const next = new Map(chosen);
    const key = `${row.source}:${row.line}`;
    if (!next.delete(key)) next.set(key, { source: row.source, line: row.line });
    setChosen(next);
  };
  const share = chosen.size > 0 ? api.shareAddress(run, [...chosen.values()]) : undefined;
  return (
    <main id="main" tabIndex={-1} className={`split${ref ? " has-row" : ""}`}>
      <section className="list-pane" aria-label="List of rollouts">
        {!ref && <h1 className="hidden">Rollouts of {status.run.name}</h1>}
        <QueryBar q={q} pass={pass} status={status} go={go} />
        <div className="list-state dim">
          <ListState list={list} filtered={Boolean(q)} />
          <span className="spacer" />
          <label>
            sort{" "}
            <select
              value={sort ?? "file"}
              onChange={(event) =>
                go({ parameters: { sort: event.target.value === "file" ? undefined : event.target.value } })
              }
            >
              {SORTS.map((name) => (
                <option key={name} value={name}>
                  {SORT_NAMES[name]}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            className="quiet"
            aria-label={
              order === "desc" ? "Descending; change to ascending" : "Ascending; change to descending"
            }
            onClick={() => go({ parameters: { order: order === "desc" ? undefined : "desc" } })}
          >
            {order === "desc" ? "↓" : "↑"}
          </button>
          {!api.isStatic && status.run.state === "running" && (
            <label>
              <input
                type="checkbox"
                checked={follows}
                onChange={(event) => setFollows(event.target.checked)}
              />{" "}
              follow
            </label>
          )}
        </div>
        {chosen.size > 0 && (
          <div className="chosen-bar">
            {countText(chosen.size, "rollout")} chosen
            {share && (
              <a href={share} download>
                Save as HTML
              </a>
            )}
            <button type="button" className="quiet" onClick={() => setChosen(new Map())}>
              Clear
            </button>
          </div>
        )}
        <RowListView
          list={list}
          selected={ref}
          position={selection.position}
          threshold={threshold}
          chosen={chosen}
          onSelect={selection.select}
          onChoose={choose}
        />
      </section>
      <section ref={main} tabIndex={-1} className="rollout-pane" aria-label="Rollout">
        {ref && (
          <a className="to-list" href={addressOf({ view: { name: "rollouts" } })}>
            ‹ List of rollouts
          </a>
        )}
        {ref && ref.line > status[ref.source].rows ? (
          <p className="note">{notThere(status, ref)}</p>
        ) : ref ? (
          <RolloutView
            run={run}
            rowRef={ref}
            status={status}
            parameters={parameters}
            threshold={threshold}
            isChosen={chosen.has(`${ref.source}:${ref.line}`)}
            onChoose={() => choose(ref)}
            go={go}
          />
        ) : (
          <p className="note">
            {selection.error ?? emptyText(list, status, Boolean(q))}{" "}
            {isFilteredOut && (
              <button type="button" onClick={() => go({ parameters: { q: undefined } })}>
                Show all rollouts
              </button>
            )}
          </p>
        )}
      </section>
    </main>
  );
}

function ListState({ list, filtered }: { list: RowList; filtered: boolean }) {
  const { search } = list;
  return (
    <span aria-live="polite">
      {list.error ? (
        <span className="problem">{list.error}</span>
      ) : (
        <>
          {list.ready
            ? countText(list.total, filtered ? "match" : "row", filtered ? "matches" : "rows")
            : "…"}
          {list.total > MAX_LISTED && `, the first ${countText(MAX_LISTED, "row")} are listed`}
          {search && !search.done && `, searched ${percentText(search.searched_rows, search.rows)}`}
        </>
      )}
    </span>
  );
}

function emptyText(list: RowList, { rollouts }: ViewerStatus, filtered: boolean): string {
  if (!list.ready) return "Loading…";
  if (list.total > 0) return "Choose a rollout: click it, or press j.";
  if (filtered) return "No rollout passes the filter.";
  return rollouts.exists
    ? "There are no rollouts yet. They appear as they are written."
    : `${rollouts.name} was removed or renamed.`;
}

/** A row that is not asked for before it is there: it may come yet, or have gone with the file it stood in. */
function notThere(status: ViewerStatus, { source, line }: RowRef): string {
  const { name, rows } = status[source];
  return `${name} has no line ${line}; it has ${rows.toLocaleString("en")} (so far).`;
}

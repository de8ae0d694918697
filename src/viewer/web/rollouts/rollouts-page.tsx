import { useEffect, useRef, useState } from "react";
import { type RowRef, SORTS, type Sort, type ViewerStatus } from "../../api-types.ts";
import { parseQuery } from "../../query/query.ts";
import { RolloutView } from "../rollout/rollout-view.tsx";
import { api, type RunId } from "../shared/api-client.ts";
import { Chip, Choice, EmptyState, FileGone, OrderButton } from "../shared/elements.tsx";
import { countLabel, linesText, percentText } from "../shared/format.ts";
import { useKeys } from "../shared/keyboard.ts";
import { QueryBar } from "../shared/query-bar.tsx";
import type { Parameters, View } from "../shared/route.ts";
import { useIsWide } from "../shared/use-is-wide.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { MAX_LISTED, type RowList, useRows } from "../shared/use-rows.ts";
import { visibleText } from "../text/controls.ts";
import { Plain } from "../text/plain.tsx";
import { RowListView } from "./row-list.tsx";
import { ColumnChoice, RowTable } from "./row-table.tsx";
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

/** The list of rollouts, and the open rollout next to it. */
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
  // A missing rollout also has a page.
  const isBeyond = ref !== undefined && !api.isStatic && ref.line > status[ref.source].rows;
  const missing = isBeyond ? notThere(status, ref) : selection.error;

  const hasRow = ref !== undefined || missing !== undefined;
  // The table becomes a narrow list next to an open rollout.
  const isTable = useIsWide() && !hasRow;
  const Rows = isTable ? RowTable : RowListView;
  const isOutline = hasRow && parameters.side === "outline";
  const showSide = (side: string | undefined) => go({ parameters: { side }, replace: true });
  const [outline, setOutline] = useState<HTMLElement | null>(null);
  const repeat = (by: number) => {
    if (view.name === "rollout" && view.rollout + by >= 0)
      go({ view: { ...view, rollout: view.rollout + by } });
  };
  useKeys({
    // Registered here and not in the rollout, which may still be loading.
    ...(view.name === "rollout" && { "[": () => repeat(-1), "]": () => repeat(1) }),
    j: () => void selection.move(1),
    k: () => void selection.move(-1),
    "/": () => document.getElementById("search")?.focus(),
    ...(hasRow && { "\\": () => showSide(isOutline ? undefined : "outline") }),
    f: () => go({ parameters: { q: q === "is:failed" ? undefined : "is:failed" }, replace: true }),
  });
  // Follows a running collection: shows each new row. Failed attempts are listed after all rows, regardless of their
  // time.
  const { rows } = status.rollouts;
  const newest = useRef(rows);
  useEffect(() => {
    if (follows && rows > newest.current)
      go({ view: { name: "row", ref: { source: "rollouts", line: rows } }, replace: true });
    newest.current = rows;
  }, [rows, follows, go]);
  // Lets keys scroll the rollout immediately.
  const where = ref && `${ref.source}:${ref.line}`;
  useEffect(() => {
    if (where === undefined) return;
    const isTyping = document.activeElement?.matches("input, select, textarea, .rows");
    if (!isTyping) main.current?.focus({ preventScroll: true });
  }, [where]);
  const choose = (row: RowRef) => {
    const next = new Map(chosen);
    const key = `${row.source}:${row.line}`;
    if (!next.delete(key)) next.set(key, { source: row.source, line: row.line });
    setChosen(next);
  };
  const share = chosen.size > 0 ? api.shareAddress(run, [...chosen.values()]) : undefined;
  return (
    <main
      id="main"
      tabIndex={-1}
      className={`split${hasRow ? " has-row" : ""}${isTable ? " has-table" : ""}`}
    >
      <section className="list-pane" aria-label={isOutline ? "Outline of the rollout" : "List of rollouts"}>
        {hasRow && (
          <div className="side-choice">
            <Chip isOn={!isOutline} onClick={() => showSide(undefined)}>
              Rollouts
            </Chip>
            <Chip isOn={isOutline} onClick={() => showSide("outline")}>
              Outline
            </Chip>
          </div>
        )}
        {isOutline ? (
          <div className="outline-pane" ref={setOutline} />
        ) : (
          <>
            {!ref && !missing && <h1 className="hidden">Rollouts of {visibleText(status.run.name)}</h1>}
            <QueryBar q={q} pass={pass} status={status} go={go} />
            <div className="list-state dim">
              <ListState list={list} status={status} q={q} />
              <span className="spacer" />
              {isTable && <ColumnChoice columns={parameters.columns} go={go} />}
              <Choice
                label="sort"
                value={sort}
                options={SORTS.map((name) => [name, SORT_NAMES[name]] as const)}
                onChoose={(value) => go({ parameters: { sort: value } })}
              />
              <OrderButton order={order} go={go} />
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
                {countLabel(chosen.size, "rollout")} chosen
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
            {list.ready && !list.error && list.total === 0 ? (
              <EmptyList status={status} filtered={Boolean(q)} go={go} />
            ) : (
              <Rows
                list={list}
                selected={ref}
                position={selection.position}
                threshold={threshold}
                chosen={chosen}
                parameters={parameters}
                onSelect={selection.select}
                onChoose={choose}
                go={go}
              />
            )}
          </>
        )}
      </section>
      {!isTable && (
        <section ref={main} tabIndex={-1} className="rollout-pane" aria-label="Rollout">
          {hasRow && (
            <a className="to-list" href={addressOf({ view: { name: "rollouts" } })}>
              ‹ Rollouts
            </a>
          )}
          {missing ? (
            <>
              <h1>Rollout not found</h1>
              <p className="note">{visibleText(missing)}</p>
            </>
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
              outline={isOutline ? outline : null}
            />
          ) : (
            list.total > 0 && <p className="note">Select a rollout in the list, or press j.</p>
          )}
        </section>
      )}
    </main>
  );
}

function ListState({ list, status, q = "" }: { list: RowList; status: ViewerStatus; q: string | undefined }) {
  const { search } = list;
  const hasRolloutsOnly = status.failures.rows + status.unreadable === 0;
  return (
    <span aria-live="polite">
      {list.error ? (
        // The field above says what is wrong with a query.
        isQuery(q) && <span className="problem">{list.error}</span>
      ) : (
        <>
          {!list.ready
            ? "…"
            : q !== ""
              ? countLabel(list.total, "match", "matches")
              : hasRolloutsOnly
                ? countLabel(list.total, "rollout")
                : `${countLabel(list.total, "line")}: ${linesText(status)}`}
          {list.total > MAX_LISTED && `, the first ${MAX_LISTED.toLocaleString("en")} are listed`}
          {search && !search.done && `, searched ${percentText(search.searched_rows, search.rows)}`}
          {search?.excerpts_only && ", searched only the beginnings of questions and answers"}
        </>
      )}
    </span>
  );
}

function isQuery(q: string): boolean {
  try {
    parseQuery(q);
    return true;
  } catch {
    return false;
  }
}

function EmptyList({ status, filtered, go }: { status: ViewerStatus; filtered: boolean; go: Go }) {
  const { rollouts } = status;
  if (!rollouts.exists) return <FileGone name={rollouts.name} />;
  if (!filtered)
    return (
      <EmptyState title="No rollouts yet">
        <Plain text={`${rollouts.name} has no rows. They appear here as they are written.`} />
      </EmptyState>
    );
  return (
    <EmptyState
      title="No rollout matches the filter"
      action={
        <button type="button" onClick={() => go({ parameters: { q: undefined } })}>
          Clear filters
        </button>
      }
    >
      Change the filter above, or clear it to list all rollouts.
    </EmptyState>
  );
}

/** The row may not be written yet, or it was in a file that has been replaced. */
function notThere(status: ViewerStatus, { source, line }: RowRef): string {
  const { name, rows } = status[source];
  return `${name} has no line ${line}. It has ${countLabel(rows, "line")} so far.`;
}

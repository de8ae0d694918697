import { useEffect, useRef, useState } from "react";
import type { RowRef, ViewerStatus } from "../api-types.ts";
import { AggregatePanel } from "./aggregate-panel.tsx";
import { api } from "./api-client.ts";
import { FilterBar } from "./filter-bar.tsx";
import { countText, percentText } from "./format.ts";
import { Header } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { OverviewPage } from "./overview-page.tsx";
import { RolloutView } from "./rollout-view.tsx";
import { type Filters, viewOfRow } from "./route.ts";
import { RowListView } from "./row-list.tsx";
import { TaskView } from "./task-view.tsx";
import { useKeys } from "./use-keys.ts";
import { useLoaded } from "./use-loaded.ts";
import { useRoute } from "./use-route.ts";
import { MAX_LISTED, type RowList, useRows } from "./use-rows.ts";
import { useSelection } from "./use-selection.ts";
import { useStatus } from "./use-status.ts";

export function App() {
  const [{ view, filters }, go] = useRoute();
  const { status, error } = useStatus();
  const version = status?.version;
  const generation = status?.generation ?? 0;
  const list = useRows(filters, version, status?.generation);
  const selection = useSelection(view, filters, list, { version: version ?? 0, generation }, go);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const threshold = Number(filters.pass_threshold ?? 1);
  const all = { pass_threshold: filters.pass_threshold };
  const { value: overview } = useLoaded(
    version === undefined ? undefined : JSON.stringify([version, all]),
    (signal) => api.overview(all, signal),
  );
  const setFilters = (next: Filters) => go({ filters: next }, { replace: true });
  const openTask = (task: number) => go({ view: { name: "task", task } });
  const shown = selection.position === undefined ? undefined : list.rowAt(selection.position);

  useKeys({
    j: () => void selection.move(1),
    arrowdown: () => void selection.move(1),
    k: () => void selection.move(-1),
    arrowup: () => void selection.move(-1),
    "/": () => document.getElementById("search")?.focus(),
    o: () => go({ view: { name: "overview" } }),
    t: () => {
      const task = view.name === "rollout" ? view.task : shown?.task;
      if (task !== undefined && task !== null) openTask(task);
    },
    f: () => {
      const { status: current, ...others } = filters;
      setFilters(current === "failed" ? others : { ...others, status: "failed" });
    },
    e: toggleFields,
    "?": () => setHelp(true),
  });

  const fileName = status?.rollouts.name;
  useEffect(() => {
    if (fileName) document.title = `${fileName} - rollouts`;
  }, [fileName]);
  const where = selection.ref ? `${view.name}:${selection.ref.source}:${selection.ref.line}` : view.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every other page begins at its top
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [where]);

  return (
    <div className="app">
      <Header
        status={status}
        overview={overview}
        error={error}
        page={view.name === "overview" ? "overview" : "other"}
        onOverview={() => go({ view: view.name === "overview" ? { name: "first" } : { name: "overview" } })}
        onStatus={(wanted) => setFilters({ ...filters, status: wanted })}
        onHelp={() => setHelp(true)}
      />
      <aside>
        <FilterBar filters={filters} status={status} onChange={setFilters} />
        <ListState list={list} filtered={Object.keys(filters).length > 0} />
        <RowListView
          list={list}
          selected={view.name === "overview" || view.name === "task" ? undefined : selection.ref}
          position={view.name === "overview" || view.name === "task" ? undefined : selection.position}
          threshold={threshold}
          onSelect={selection.select}
        />
      </aside>
      <main ref={main}>
        {version !== undefined && <AggregatePanel version={version} />}
        {status === undefined || version === undefined ? (
          <p className="note">Loading…</p>
        ) : view.name === "overview" ? (
          <OverviewPage filters={filters} version={version} onTask={openTask} />
        ) : view.name === "task" ? (
          <TaskView
            key={`${view.task}:${generation}`}
            task={view.task}
            version={version}
            generation={generation}
            threshold={threshold}
            onOpen={(row) => go({ view: viewOfRow(row) })}
          />
        ) : selection.ref && selection.ref.line > status[selection.ref.source].rows ? (
          <p className="note">{notThere(status, selection.ref)}</p>
        ) : selection.ref ? (
          <RolloutView
            rowRef={selection.ref}
            generation={generation}
            threshold={threshold}
            onTask={openTask}
          />
        ) : (
          <p className="note">{selection.error ?? emptyText(list, Object.keys(filters).length > 0)}</p>
        )}
      </main>
      <HelpDialog open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

function ListState({ list, filtered }: { list: RowList; filtered: boolean }) {
  const { search } = list;
  return (
    <p className="list-state dim" aria-live="polite">
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
    </p>
  );
}

function emptyText(list: RowList, filtered: boolean): string {
  if (!list.ready) return "Loading…";
  return filtered
    ? "No rollout passes the filters."
    : "There are no rollouts yet; they appear as they are written.";
}

/** A row that is not asked for before it is there: it may come yet, or have gone with the file it stood in. */
function notThere(status: ViewerStatus, { source, line }: RowRef): string {
  const { name, rows } = status[source];
  return `${name} has no line ${line}; it has ${rows.toLocaleString("en")} (so far).`;
}

/** Opens all fields of the row, or closes them when any is open. */
function toggleFields(): void {
  const fields = [...document.querySelectorAll<HTMLDetailsElement>("main .fields > details")];
  const open = !fields.some((field) => field.open);
  for (const field of fields) field.open = open;
}

import { useEffect, useState } from "react";
import type { RunsAnswer } from "../api-types.ts";
import { BoardPage } from "./board/board-page.tsx";
import { ComparePage } from "./compare/compare-page.tsx";
import { FilesPage } from "./files/files-page.tsx";
import { LivePage } from "./live/live-page.tsx";
import { OptimizationPage } from "./optimization/optimization-page.tsx";
import { OverviewPage } from "./overview/overview-page.tsx";
import { RolloutsPage } from "./rollouts/rollouts-page.tsx";
import { RunsPage } from "./runs/runs-page.tsx";
import { api } from "./shared/api-client.ts";
import { EmptyState, RunLinks } from "./shared/elements.tsx";
import { Header } from "./shared/header.tsx";
import { HelpDialog } from "./shared/help-dialog.tsx";
import { useKeys } from "./shared/keyboard.ts";
import type { Route, View } from "./shared/route.ts";
import { useLoaded } from "./shared/use-loaded.ts";
import { type Go, useRoute } from "./shared/use-route.ts";
import { useStatus } from "./shared/use-status.ts";
import { RepeatsPage } from "./tasks/repeats-page.tsx";
import { TasksPage } from "./tasks/tasks-page.tsx";
import { visibleText } from "./text/controls.ts";
import { Plain } from "./text/plain.tsx";

export function App() {
  const [route, go] = useRoute();
  const [help, setHelp] = useState(false);
  const { value: runs, error: runsError } = useLoaded(`runs:${route.view.name === "runs"}`, (signal) =>
    api.runs(signal),
  );
  // A single run has no name in the address, and opens on its overview.
  const single = runs?.single === true;
  const isBoard = runs?.static === true && !single;
  const view: View =
    route.view.name !== "runs"
      ? route.view
      : single
        ? { name: "overview" }
        : { name: isBoard ? "board" : "runs" };
  const isOfRuns = view.name === "compare" || view.name === "unknown";
  const isOutside = view.name === "runs" || view.name === "board" || view.name === "optimization";
  const needsRun = !isOutside && !(isOfRuns && route.run === null && !single);
  const run =
    runs === undefined || !needsRun ? undefined : single ? null : (route.run ?? runs.runs[0]?.id ?? null);
  const { status, error } = useStatus(run);
  const page = (name: "overview" | "tasks" | "rollouts" | "compare" | "live" | "files") => () =>
    go({ view: { name } });
  useKeys({
    "/": () => document.getElementById("search")?.focus(),
    "?": () => setHelp(true),
    g: single ? undefined : () => go({ run: null, view: { name: "runs" } }),
    ...(needsRun && {
      o: page("overview"),
      t: page("tasks"),
      l: page("rollouts"),
      d: page("compare"),
      v: page("live"),
    }),
  });
  const title = titleOf(view, needsRun ? (status?.run.name ?? route.run ?? "…") : undefined);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const isSplit = view.name === "rollouts" || view.name === "rollout" || view.name === "row";
  return (
    <div className="app">
      <Header
        view={view}
        hasRun={needsRun}
        runs={runs}
        status={status}
        error={error ?? runsError}
        onHelp={() => setHelp(true)}
      />
      {isSplit && run !== undefined && status ? (
        <RolloutsPage
          key={String(run)}
          run={run}
          view={view}
          parameters={route.parameters}
          status={status}
          go={go}
        />
      ) : (
        <main key={view.name} id="main" tabIndex={-1} className="whole">
          <Page
            route={{ ...route, view }}
            run={run}
            status={status}
            runs={runs}
            go={go}
            error={error ?? runsError}
            needsRun={needsRun}
          />
        </main>
      )}
      <HelpDialog open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

interface PageProps {
  route: Route;
  run: string | null | undefined;
  status: ReturnType<typeof useStatus>["status"];
  runs: RunsAnswer | undefined;
  go: Go;
  error: string | undefined;
  needsRun: boolean;
}

function Page({ route: { view, parameters }, run, status, runs, go, error, needsRun }: PageProps) {
  if (view.name === "unknown" && needsRun) return <UnknownPage path={view.path} />;
  if (view.name === "runs" || view.name === "unknown") {
    const unknown = view.name === "unknown" ? view.path : undefined;
    if (runs === undefined) return error ? null : <p className="note">Looking for runs…</p>;
    return <RunsPage runs={runs} unknown={unknown} parameters={parameters} go={go} />;
  }
  if (view.name === "board") return runs === undefined ? null : <BoardPage parameters={parameters} />;
  if (view.name === "optimization") return <OptimizationPage parameters={parameters} />;
  if (view.name === "compare")
    return <ComparePage current={status?.run.id} parameters={parameters} runs={runs} go={go} />;
  if (run === undefined || status === undefined)
    return error ? <NotLoaded hasRuns={runs?.single === false} /> : <p className="note">Loading…</p>;
  switch (view.name) {
    case "overview":
      return <OverviewPage run={run} parameters={parameters} status={status} go={go} />;
    case "tasks":
      return <TasksPage run={run} parameters={parameters} status={status} runs={runs} go={go} />;
    case "task":
      return (
        <RepeatsPage
          key={view.task}
          run={run}
          task={view.task}
          parameters={parameters}
          status={status}
          go={go}
        />
      );
    case "live":
      return <LivePage run={run} status={status} />;
    case "files":
      return <FilesPage run={run} status={status} />;
    default:
      return null;
  }
}

/** The title of the browser tab: the run, and the page of the run. */
function titleOf(view: View, run: string | undefined): string {
  if (run === undefined)
    return view.name === "runs" || view.name === "unknown"
      ? "Runs · rollouts"
      : `${capitalized(view.name)} · rollouts`;
  const place =
    view.name === "rollout"
      ? `Task ${view.task} · ${view.rollout}`
      : view.name === "task"
        ? `Task ${view.task}`
        : view.name === "row"
          ? "Rollout"
          : view.name === "unknown"
            ? "Page not found"
            : capitalized(view.name);
  return `${visibleText(run)} · ${place}`;
}

const capitalized = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

/** The header shows the error. */
function NotLoaded({ hasRuns }: { hasRuns: boolean }) {
  return (
    <article className="page" aria-label="Run not shown">
      <EmptyState
        title="This run cannot be shown"
        action={
          hasRuns && (
            <a className="button" href="#/runs">
              Runs
            </a>
          )
        }
      >
        The message above has the reason.
      </EmptyState>
    </article>
  );
}

function UnknownPage({ path }: { path: string }) {
  return (
    <article className="page" aria-label="Page not found">
      <EmptyState title="Page not found" action={<RunLinks />}>
        There is no page “<Plain text={path} />
        ”.
      </EmptyState>
    </article>
  );
}

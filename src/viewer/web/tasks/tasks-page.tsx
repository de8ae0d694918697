import {
  type RunsAnswer,
  TASK_SETS,
  type TaskEntry,
  type TaskSet,
  type ViewerStatus,
} from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { cellGlyph, cellWords } from "../shared/badges.tsx";
import { Chip, Choice, ChosenNotice, EmptyState, OrderButton, TablePart } from "../shared/elements.tsx";
import { countLabel, meanText, rewardText, shortCount } from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";
import { QueryBar } from "../shared/query-bar.tsx";
import { type Parameters, viewOfRow } from "../shared/route.ts";
import { usePages } from "../shared/use-pages.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { figuresVersion } from "../shared/use-status.ts";
import { useVirtualRows } from "../shared/virtual-rows.tsx";
import { Isolated } from "../text/plain.tsx";

const ROW_HEIGHT = 34;
/** 17 million pixels; Firefox lays out at most about 17.9 million. Sets and filters give access to further tasks. */
const MAX_LISTED = 500_000;
/** A cell and the gap after it. */
const CELL_WIDTH = 29;
const PAGE = 200;
const SET_NAMES: Record<TaskSet, string> = {
  all: "All",
  mixed: "Mixed",
  always_fail: "Always fail",
  always_pass: "Always pass",
  errored: "Errored",
  flipped: "Flipped",
};

const SORT_NAMES = [
  ["task", "task"],
  ["mean", "mean reward"],
  ["variance", "variance"],
  ["length", "output tokens"],
] as const;

const SET_MEANINGS: Record<TaskSet, string> = {
  all: "No task has a matching rollout.",
  mixed: "A task is mixed if some repeats pass and some do not.",
  always_fail: "In this set no repeat passes.",
  always_pass: "In this set every repeat passes.",
  errored: "In this set at least one repeat failed and has no result.",
  flipped: "In this set one run passes and the other does not.",
};
const HEADS = [
  ["task", "task-name"],
  ["mean", "task-mean number"],
  ["other", "task-other number"],
  ["repeats", "cells"],
  ["tokens", "task-tokens number"],
  ["question", "task-prompt"],
] as const;

interface Props {
  run: RunId;
  parameters: Parameters;
  status: ViewerStatus;
  runs: RunsAnswer | undefined;
  go: Go;
}

/** Tasks and repeats: each cell is a rollout. */
export function TasksPage({ run, parameters, status, runs, go }: Props) {
  const { q, pass, set = "all", by = "task", order = "asc", against } = parameters;
  const request = { q, pass, set, by, order, against };
  const grid = usePages(
    JSON.stringify([run, request]),
    figuresVersion(status),
    PAGE,
    async (offset, limit) => {
      const page = await api.tasks(run, { ...request, offset, limit });
      return { ...page, items: page.tasks };
    },
  );
  const page = grid.answer;
  const list = useVirtualRows({
    count: Math.min(page?.total ?? 0, MAX_LISTED),
    rowHeight: ROW_HEIGHT,
    overscan: 12,
    ensure: grid.ensure,
  });
  useScrollFocus(true, list.scroller);
  // All rows reserve space for the same number of repeats, so that the following columns align.
  const inSight = list.indexes.map((index) => grid.itemAt(index)?.cells.length ?? 0);
  const cellsWidth = Math.max(2, ...inSight) * CELL_WIDTH;
  const others = runs?.runs.filter(({ id }) => id !== status.run.id) ?? [];
  return (
    <article className="tasks-page page" aria-label="Tasks">
      <h1 className="hidden">Tasks of {status.run.name}</h1>
      <QueryBar q={q} pass={pass} status={status} go={go} />
      <ChosenNotice />
      <div className="grid-tools">
        <fieldset className="chips" aria-label="Sets of tasks">
          {TASK_SETS.filter((name) => name !== "flipped" || against).map((name) => (
            <Chip
              key={name}
              isOn={set === name}
              onClick={() => go({ parameters: { set: name === "all" ? undefined : name } })}
            >
              {SET_NAMES[name]} {page?.counts[name].toLocaleString("en") ?? ""}
            </Chip>
          ))}
        </fieldset>
        <span className="spacer" />
        <Choice
          label="sort"
          value={by}
          options={against ? [...SORT_NAMES, ["difference", "difference"]] : SORT_NAMES}
          onChoose={(value) => go({ parameters: { by: value } })}
        />
        <OrderButton order={order} go={go} />
        {others.length > 0 && (
          <Choice
            label="against"
            value={against}
            options={[["", "no other run"], ...others.slice(0, 500).map(({ id }) => [id, id] as const)]}
            onChoose={(value) =>
              go({
                parameters: {
                  against: value,
                  ...(value === undefined && set === "flipped" && { set: undefined }),
                },
              })
            }
          />
        )}
      </div>
      {grid.error && <p className="problem-box">{grid.error}</p>}
      <div className="legend-line dim" aria-hidden="true">
        <span className="cell pass">✓</span> passed <span className="cell part">.5</span> partial{" "}
        <span className="cell zero">·</span> zero <span className="cell failed">!</span> failed{" "}
        <span className="cell masked">m</span> masked <span className="cell excluded">×</span> excluded
      </div>
      {page && page.total > MAX_LISTED && (
        <p className="dim">
          {countLabel(page.total, "task")}, the first {MAX_LISTED.toLocaleString("en")} are listed.
        </p>
      )}
      <TablePart
        ref={list.scroller}
        className={`grid-rows${page?.total === 0 ? " is-empty" : ""}`}
        tabIndex={0}
        role="table"
        aria-label="Tasks and repeats"
        aria-rowcount={(page?.total ?? 0) + 1}
      >
        {/* As wide as its header; many repeats scroll horizontally. */}
        <div className="grid-space">
          <TablePart className="task-row task-head" role="row" aria-rowindex={1}>
            {HEADS.filter(([name]) => name !== "other" || against !== undefined).map(([name, className]) => (
              <TablePart
                key={name}
                className={className}
                role="columnheader"
                {...(name === "repeats" && { style: { width: cellsWidth } })}
              >
                {name}
              </TablePart>
            ))}
          </TablePart>
          <TablePart role="rowgroup" style={list.style}>
            {list.render((index) => {
              const task = grid.itemAt(index);
              return task && <TaskRow task={task} index={index} against={against} cellsWidth={cellsWidth} />;
            })}
          </TablePart>
        </div>
      </TablePart>
      {page?.total === 0 && !(page.search && !page.search.done) && (
        <NoTasks
          status={status}
          q={q}
          set={TASK_SETS.find((name) => name === set) ?? "all"}
          onAll={() => go({ parameters: { q: undefined, set: undefined } })}
        />
      )}
    </article>
  );
}

function NoTasks({
  status,
  q,
  set,
  onAll,
}: {
  status: ViewerStatus;
  q: string | undefined;
  set: TaskSet;
  onAll: () => void;
}) {
  if (!q && set === "all")
    return (
      <EmptyState title="No tasks">
        {status.rollouts.rows === 0
          ? `${status.rollouts.name} has no rows yet. Tasks appear when their first rollout is written.`
          : "No row of this file has a task index (_ng_task_index), so there are no repeats to group."}
      </EmptyState>
    );
  return (
    <EmptyState
      title={set === "all" ? "No task matches the filter" : `No task in the set “${SET_NAMES[set]}”`}
      action={
        <button type="button" onClick={onAll}>
          Show all tasks
        </button>
      }
    >
      {SET_MEANINGS[set]}
      {q && (
        <>
          {" "}
          Only rollouts that match <code>{q}</code> count.
        </>
      )}
    </EmptyState>
  );
}

interface TaskRowProps {
  task: TaskEntry;
  index: number;
  /** The run to compare with. */
  against: string | undefined;
  cellsWidth: number;
}

function TaskRow({ task, index, against, cellsWidth }: TaskRowProps) {
  return (
    <TablePart className="task-row" role="row" aria-rowindex={index + 2}>
      <TablePart className="task-name" role="rowheader">
        <a
          href={addressOf({
            view: { name: "task", task: task.task },
            parameters: { with: against && `${encodeURIComponent(against)}:${task.task}` },
          })}
        >
          {task.task}
        </a>
      </TablePart>
      <TablePart className="task-mean number" role="cell" title={`variance ${rewardText(task.variance)}`}>
        {meanText(task.mean)}
      </TablePart>
      {against !== undefined && (
        <TablePart className="task-other number dim" role="cell">
          {meanText(task.other)}
        </TablePart>
      )}
      <TablePart className="cells" role="cell" style={{ width: cellsWidth }}>
        {task.cells.map((cell) => (
          <a
            key={`${cell.source}:${cell.line}`}
            className={`cell ${cell.state}`}
            href={addressOf({ view: viewOfRow({ ...cell, task: task.task }) })}
            title={cellWords(cell)}
            aria-label={`Task ${task.task}, ${cellWords(cell)}`}
          >
            {cellGlyph(cell)}
            {cell.attempt > 0 && cell.state !== "failed" && <i aria-hidden="true" />}
          </a>
        ))}
      </TablePart>
      <TablePart className="task-tokens number dim" role="cell">
        {task.tokens === null ? "" : shortCount(Math.round(task.tokens))}
      </TablePart>
      <TablePart className="task-prompt cut" role="cell">
        <Isolated text={task.prompt} />
      </TablePart>
    </TablePart>
  );
}

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";
import type { TaskEntry } from "../api-types.ts";
import { api } from "./api-client.ts";
import { countText, percentText, rewardText } from "./format.ts";
import { RewardChart } from "./reward-chart.tsx";
import type { Filters } from "./route.ts";
import { useLoaded } from "./use-loaded.ts";

const TASK_HEIGHT = 28;
const PAGE = 500;

interface Props {
  filters: Filters;
  version: number;
  onTask: (task: number) => void;
}

/** Rewards and tasks of the rollouts that pass the filters. */
export function OverviewPage({ filters, version, onTask }: Props) {
  const key = JSON.stringify([filters, version]);
  const { value: overview, error } = useLoaded(key, (signal) => api.overview(filters, signal));
  if (error) return <p className="problem-box">{error}</p>;
  if (overview === undefined) return <p className="note">Loading…</p>;
  const { rewarded, passed, failed, masked } = overview;
  return (
    <article className="overview" aria-label="Overview">
      <section aria-label="Rewards">
        <h2>Rewards</h2>
        <dl className="numbers">
          <Fact name="mean reward" value={rewardText(overview.mean)} />
          <Fact
            name={`passed (≥ ${rewardText(overview.pass_threshold)})`}
            value={percentText(passed, rewarded)}
          />
          <Fact name="with reward" value={rewarded.toLocaleString("en")} />
          <Fact name="failed attempts" value={failed.toLocaleString("en")} />
          {masked > 0 && <Fact name="masked" value={masked.toLocaleString("en")} />}
        </dl>
        <RewardChart bins={overview.bins} />
      </section>
      <TaskTable filters={filters} version={version} onTask={onTask} />
    </article>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function TaskTable({ filters, version, onTask }: Props) {
  const [order, setOrder] = useState<"task" | "worst" | "best">("task");
  const [limit, setLimit] = useState(PAGE);
  const sorting = { sort: order === "task" ? "task" : "reward", order: order === "best" ? "desc" : "asc" };
  const key = JSON.stringify([filters, version, order, limit]);
  const { value: page } = useLoaded(key, async (signal) => {
    const parts = await Promise.all(
      [...Array(Math.ceil(limit / PAGE)).keys()].map((part) =>
        api.tasks({ ...filters, ...sorting, offset: part * PAGE, limit: PAGE }, signal),
      ),
    );
    return { total: parts[0]?.total ?? 0, tasks: parts.flatMap(({ tasks }) => tasks) };
  });
  const scroller = useRef<HTMLDivElement>(null);
  const tasks = page?.tasks ?? [];
  const virtual = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => TASK_HEIGHT,
    overscan: 10,
  });
  return (
    <section className="tasks" aria-label="Tasks">
      <div className="title-line">
        <h2>Tasks</h2>
        <span className="dim">{page && countText(page.total, "task")}</span>
        <span className="spacer" />
        <label>
          <span className="filter-name">Order</span>
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value as typeof order)}>
            <option value="task">by number</option>
            <option value="worst">worst first</option>
            <option value="best">best first</option>
          </select>
        </label>
      </div>
      <div className="task-row task-names" aria-hidden="true">
        <span>task</span>
        <span>pass rate</span>
        <span className="right">passed</span>
        <span className="right">mean</span>
        <span className="right">range</span>
        <span className="right">failed</span>
      </div>
      <div ref={scroller} className="task-rows">
        <ul className="rows-space" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const task = tasks[index];
            return (
              task && (
                <li key={task.task} className="row-place" style={{ transform: `translateY(${start}px)` }}>
                  <TaskRow task={task} onOpen={() => onTask(task.task)} />
                </li>
              )
            );
          })}
        </ul>
      </div>
      {page && page.total > tasks.length && (
        <button type="button" className="quiet" onClick={() => setLimit(limit + PAGE)}>
          {countText(page.total - tasks.length, "more task")}
        </button>
      )}
    </section>
  );
}

function TaskRow({ task, onOpen }: { task: TaskEntry; onOpen: () => void }) {
  const rate = task.rewarded === 0 ? 0 : task.passed / task.rewarded;
  const label = `Task ${task.task}: ${task.passed} of ${task.rewarded} passed`;
  return (
    <button
      type="button"
      className="task-row"
      onClick={onOpen}
      aria-label={label}
      title={`${label}; compare its repeats`}
    >
      <span>{task.task}</span>
      <span className="rate">
        <meter min={0} max={1} value={rate} aria-hidden="true" />
        {percentText(task.passed, task.rewarded)}
      </span>
      <span className="right">
        {task.passed}/{task.rewarded}
      </span>
      <span className="right">{rewardText(task.mean)}</span>
      <span className="right dim">
        {task.min === task.max ? rewardText(task.min) : `${rewardText(task.min)} … ${rewardText(task.max)}`}
      </span>
      <span className={task.failed > 0 ? "right problem" : "right dim"}>{task.failed}</span>
    </button>
  );
}

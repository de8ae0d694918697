import { useMemo, useState } from "react";
import type { RunEntry, RunsAnswer } from "../../api-types.ts";
import { StateBadge } from "../shared/badges.tsx";
import { ColumnHead, EmptyState, TablePart } from "../shared/elements.tsx";
import { countLabel, dollarText, whenText } from "../shared/format.ts";
import { Interval } from "../shared/interval.tsx";
import { useScrollFocus } from "../shared/keyboard.ts";
import { formatRoute, type Parameters } from "../shared/route.ts";
import type { Go } from "../shared/use-route.ts";
import { useVirtualRows } from "../shared/virtual-rows.tsx";
import { Plain } from "../text/plain.tsx";

const ROW_HEIGHT = 44;
const MAX_COMPARED = 6;

interface Column {
  name: string;
  caption: string;
  isNumber?: boolean;
  /** The sort value; null sorts last. */
  value: (run: RunEntry) => string | number | null;
}

const COLUMNS: readonly Column[] = [
  { name: "run", caption: "run", value: ({ name }) => name },
  { name: "environment", caption: "environment", value: ({ environment }) => environment },
  { name: "model", caption: "model", value: ({ model }) => model },
  { name: "started", caption: "started", value: ({ when }) => when },
  {
    name: "reward",
    caption: "reward, 95 % interval",
    isNumber: true,
    value: ({ reward }) => reward?.value ?? null,
  },
  {
    name: "coverage",
    caption: "coverage",
    isNumber: true,
    value: ({ coverage }) =>
      coverage === null ? null : (coverage.ok + coverage.masked) / Math.max(1, coverage.expected),
  },
  { name: "cost", caption: "cost", isNumber: true, value: ({ cost }) => cost },
  { name: "state", caption: "state", value: ({ state }) => state },
];

/** All runs below a directory, newest first unless sorted otherwise. */
export function RunsPage({
  runs,
  unknown,
  parameters,
  go,
}: {
  runs: RunsAnswer;
  /** The page in the address, if it does not exist. */
  unknown: string | undefined;
  parameters: Parameters;
  go: Go;
}) {
  const { q = "", sort, order } = parameters;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const shown = useMemo(() => {
    const matching = runs.runs.filter((run) => matches(run, q));
    const column = COLUMNS.find(({ name }) => name === sort);
    return column ? matching.sort(by(column, order === "desc")) : matching;
  }, [runs, q, sort, order]);
  const list = useVirtualRows({ count: shown.length, rowHeight: ROW_HEIGHT, overscan: 10 });
  useScrollFocus(true, list.scroller);
  const toggle = (id: string) =>
    setChosen(
      chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id].slice(-MAX_COMPARED),
    );
  const filter = (text: string) => go({ parameters: { q: text || undefined }, replace: true });
  return (
    <article className="runs-page page" aria-label="Runs">
      <div className="title-line">
        <h1>Runs</h1>
        <span className="dim">
          {runs.runs.length.toLocaleString("en")} in <bdi>{runs.root}</bdi>
        </span>
        <span className="spacer" />
        <input
          id="search"
          type="search"
          placeholder="Filter by name, environment, model   /"
          aria-label="Filter runs"
          value={q}
          onChange={(event) => filter(event.target.value)}
        />
        <button
          type="button"
          disabled={chosen.length < 2}
          title={`Select 2 to ${MAX_COMPARED} runs to compare them`}
          onClick={() =>
            go({
              run: null,
              view: { name: "compare" },
              parameters: { runs: chosen.map(encodeURIComponent).join(",") },
            })
          }
        >
          Compare{chosen.length > 0 ? ` ${chosen.length}` : ""}
        </button>
      </div>
      {unknown && (
        <p className="notice" role="status">
          There is no page “<Plain text={unknown} />
          ”.
        </p>
      )}
      {runs.optimizations.length > 0 && (
        <p className="optimization-links">
          Optimizations:{" "}
          {runs.optimizations.map((name) => (
            <a
              key={name}
              href={formatRoute({ run: null, view: { name: "optimization" }, parameters: { name } })}
            >
              <bdi>{name === "." ? runs.root : name}</bdi>
            </a>
          ))}
        </p>
      )}
      <TablePart className="run-table" role="table" aria-label="Runs" aria-rowcount={shown.length + 1}>
        <TablePart className="run-row run-head" role="row" aria-rowindex={1}>
          <TablePart role="columnheader">
            <span className="hidden">compare</span>
          </TablePart>
          {COLUMNS.map((column) => (
            <ColumnHead key={column.name} column={column} sort={sort} order={order} go={go} />
          ))}
        </TablePart>
        <TablePart ref={list.scroller} className="run-rows" role="rowgroup" tabIndex={0}>
          <div style={list.style}>
            {list.render((index) => {
              const run = shown[index];
              return (
                run && (
                  <RunRow
                    run={run}
                    index={index}
                    isChosen={chosen.includes(run.id)}
                    onChoose={() => toggle(run.id)}
                  />
                )
              );
            })}
          </div>
        </TablePart>
      </TablePart>
      {shown.length === 0 &&
        (runs.runs.length === 0 ? (
          <EmptyState title="No runs">
            There is no rollouts file below <bdi>{runs.root}</bdi>. Start a run with <code>gym eval run</code>
            , then reload this page.
          </EmptyState>
        ) : (
          <EmptyState
            title="No run matches the filter"
            action={
              <button type="button" onClick={() => filter("")}>
                Show all runs
              </button>
            }
          >
            None of the {countLabel(runs.runs.length, "run")} has all words of “{q}” in its name, environment,
            model, agents or state.
          </EmptyState>
        ))}
    </article>
  );
}

function matches(run: RunEntry, text: string): boolean {
  const about =
    `${run.id} ${run.environment} ${run.model} ${run.agents.join(" ")} ${run.state}`.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => about.includes(word));
}

function by({ value }: Column, isDescending: boolean) {
  return (a: RunEntry, b: RunEntry): number => {
    const [left, right] = [value(a), value(b)];
    if (left === right) return 0;
    if (left === null || right === null) return left === null ? 1 : -1;
    return left < right === isDescending ? 1 : -1;
  };
}

function RunRow({
  run,
  index,
  isChosen,
  onChoose,
}: {
  run: RunEntry;
  index: number;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { coverage, reward } = run;
  return (
    <TablePart className="run-row" role="row" aria-rowindex={index + 2}>
      <TablePart role="cell" className="run-choose">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={onChoose}
          aria-label={`Choose ${run.id} to compare`}
        />
      </TablePart>
      <TablePart role="rowheader" className="run-link">
        <a href={formatRoute({ run: run.id, view: { name: "overview" }, parameters: {} })} title={run.path}>
          <bdi>{run.name}</bdi>
        </a>
      </TablePart>
      <TablePart role="cell" className="cut run-environment">
        {run.environment ?? "–"}
      </TablePart>
      <TablePart role="cell" className="cut run-model">
        {run.model ?? "–"}
      </TablePart>
      <TablePart role="cell" className="dim run-when">
        {whenText(run.when)}
      </TablePart>
      <TablePart role="cell" className="number run-reward">
        {reward === null ? "–" : <Interval of={reward} />}
      </TablePart>
      <TablePart role="cell" className="number run-coverage">
        {coverage === null ? "–" : `${coverage.ok + coverage.masked} of ${coverage.expected}`}
        {coverage !== null && coverage.failed > 0 && (
          <span className="problem"> · {coverage.failed} failed</span>
        )}
      </TablePart>
      <TablePart role="cell" className="number run-cost">
        {dollarText(run.cost)}
      </TablePart>
      <TablePart role="cell" className="run-state">
        <StateBadge run={run} />
      </TablePart>
    </TablePart>
  );
}

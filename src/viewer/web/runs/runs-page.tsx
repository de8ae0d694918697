import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { RunEntry, RunsAnswer } from "../../api-types.ts";
import { StateBadge } from "../shared/badges.tsx";
import { dollarText, whenText } from "../shared/format.ts";
import { formatRoute } from "../shared/route.ts";
import type { Go } from "../shared/use-route.ts";

const ROW_HEIGHT = 44;
const MAX_COMPARED = 6;

/** All runs, newest first; thousands of them. */
export function RunsPage({ runs, go }: { runs: RunsAnswer | undefined; go: Go }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const shown = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (runs?.runs ?? []).filter((run) => {
      const about =
        `${run.id} ${run.environment} ${run.model} ${run.agents.join(" ")} ${run.state}`.toLowerCase();
      return words.every((word) => about.includes(word));
    });
  }, [runs, text]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
  });
  if (runs === undefined) return <p className="note">Looking for runs…</p>;
  const toggle = (id: string) =>
    setChosen(
      chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id].slice(-MAX_COMPARED),
    );
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
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button
          type="button"
          disabled={chosen.length < 2}
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
      <div className="run-row run-head" aria-hidden="true">
        <span />
        <span>run</span>
        <span>environment</span>
        <span>model</span>
        <span>started</span>
        <span className="number">reward, 95 % interval</span>
        <span className="number">coverage</span>
        <span className="number">cost</span>
        <span>state</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={scroller} className="run-rows" tabIndex={0} aria-label="List of runs">
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const run = shown[index];
            return (
              run && (
                <div
                  key={run.id}
                  className="row-place"
                  style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                >
                  <RunRow run={run} isChosen={chosen.includes(run.id)} onChoose={() => toggle(run.id)} />
                </div>
              )
            );
          })}
        </div>
      </section>
      {shown.length === 0 && (
        <p className="note">
          No run matches.{" "}
          <button type="button" onClick={() => setText("")}>
            Show all
          </button>
        </p>
      )}
    </article>
  );
}

function RunRow({ run, isChosen, onChoose }: { run: RunEntry; isChosen: boolean; onChoose: () => void }) {
  const { coverage, reward } = run;
  return (
    <div className="run-row">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={onChoose}
        aria-label={`Choose ${run.id} to compare`}
      />
      <a
        className="run-link"
        href={formatRoute({ run: run.id, view: { name: "overview" }, parameters: {} })}
        title={run.path}
      >
        <bdi>{run.name}</bdi>
      </a>
      <span className="cut run-environment">{run.environment ?? "–"}</span>
      <span className="cut run-model">{run.model ?? "–"}</span>
      <span className="dim run-when">{whenText(run.when)}</span>
      <span className="number run-reward">
        {reward === null ? "–" : reward.value.toFixed(3)}{" "}
        {reward !== null && reward.low !== null && reward.high !== null && (
          <span className="dim">
            [{reward.low.toFixed(3)}, {reward.high.toFixed(3)}]
          </span>
        )}
      </span>
      <span className="number run-coverage">
        {coverage === null ? "–" : `${coverage.ok + coverage.masked} of ${coverage.expected}`}
        {coverage !== null && coverage.failed > 0 && (
          <span className="problem"> · {coverage.failed} failed</span>
        )}
      </span>
      <span className="number run-cost">{dollarText(run.cost)}</span>
      <StateBadge state={run.state} />
    </div>
  );
}

import { useEffect, useMemo, useRef } from "react";
import { isObject, type JsonObject } from "../../../base/python/json/json-object.ts";
import type { ListedRow, RowAnswer, RunState, ViewerStatus } from "../../api-types.ts";
import { type ConversationItem, conversationOf } from "../../conversation/conversation.ts";
import { Item } from "../rollout/conversation.tsx";
import { rangeIn } from "../rollout/text-range.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { RewardBadge } from "../shared/badges.tsx";
import { Chip } from "../shared/elements.tsx";
import { countText, percentText, rewardText, shortCount } from "../shared/format.ts";
import { type Parameters, viewOfRow } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { Plain } from "../text/plain.tsx";
import { type Divergence, differingWords, firstDivergence, turnsOf } from "./align.ts";

const PANES = 4;
const MAX_REPEATS = 200;
/** The highlight name of the first difference between repeats. */
const DIVERGES = "diverges";

interface Props {
  run: RunId;
  task: number;
  parameters: Parameters;
  status: ViewerStatus;
  go: Go;
}

/** The repeats of one task side by side, aligned by turn. */
export function RepeatsPage({ run, task, parameters, status, go }: Props) {
  const threshold = Number(parameters.pass ?? 1);
  const { value: page, error } = useLoaded(`${run}:${task}:${status.version}:${status.annotated}`, (signal) =>
    api.rollouts(run, { q: `task=${task}`, sort: "task", limit: MAX_REPEATS }, signal),
  );
  if (error) return <p className="problem-box">{error}</p>;
  if (page === undefined) return <p className="note">Loading…</p>;
  const wanted = (parameters.panes ?? "").split(",").filter(Boolean);
  const named = (row: ListedRow) => `${row.source === "failures" ? "f" : ""}${row.line}`;
  const shown =
    wanted.length > 0
      ? page.rows.filter((row) => wanted.includes(named(row)))
      : page.rows.filter(({ source }) => source === "rollouts").slice(0, PANES);
  const panes = shown.length > 0 ? shown : page.rows.slice(0, PANES);
  const toggle = (row: ListedRow) => {
    const current = panes.map(named);
    const next = current.includes(named(row))
      ? current.filter((each) => each !== named(row))
      : [...current, named(row)].slice(-PANES);
    go({ parameters: { panes: next.join(",") || undefined }, replace: true });
  };
  const rewarded = page.rows.filter(({ reward, masked }) => reward !== null && !masked);
  const passed = rewarded.filter(({ reward }) => (reward ?? 0) >= threshold).length;
  const failed = page.rows.filter(({ failure }) => failure !== null).length;
  const repeats = new Set(page.rows.map((row) => row.rollout ?? named(row))).size;
  return (
    <article className="repeats page" aria-label={`Task ${task}`}>
      <div className="title-line">
        <h1>Task {task}</h1>
        {page.rows.length > 0 && (
          <span className="dim">
            {countText(repeats, "repeat")}
            {failed > 0 && `, ${countText(failed, "failed attempt")}`}, {passed} of {rewarded.length} passed (
            {percentText(passed, rewarded.length)})
          </span>
        )}
        <span className="spacer" />
        <a
          className="button"
          href={addressOf({ view: { name: "task", task: Math.max(0, task - 1) } })}
          aria-label="Previous task"
        >
          ‹
        </a>
        <a
          className="button"
          href={addressOf({ view: { name: "task", task: task + 1 } })}
          aria-label="Next task"
        >
          ›
        </a>
      </div>
      <fieldset className="chips" aria-label="Repeats shown">
        {page.rows.map((row) => (
          <Chip key={named(row)} isOn={panes.includes(row)} onClick={() => toggle(row)}>
            {row.source === "failures" ? `failed ${row.rollout ?? row.line}` : `${row.rollout ?? row.line}`}:{" "}
            <Plain text={row.failure ?? rewardText(row.reward)} />
          </Chip>
        ))}
      </fieldset>
      {page.rows.length === 0 ? (
        <p className="note">{noRepeats(status.run.state, task)}</p>
      ) : (
        <Panes run={run} rows={panes} status={status} threshold={threshold} />
      )}
    </article>
  );
}

/** A task of a run that is not done may still get rollouts, or never got one. */
function noRepeats(state: RunState, task: number): string {
  if (state === "running" || state === "paused") return "This task has no rollouts yet.";
  return state === "done" ? `This run has no task ${task}.` : `This run has no rollouts of task ${task}.`;
}

function Panes({
  run,
  rows,
  status,
  threshold,
}: {
  run: RunId;
  rows: readonly ListedRow[];
  status: ViewerStatus;
  threshold: number;
}) {
  const key = JSON.stringify([run, status.generation, rows.map(({ source, line }) => [source, line])]);
  const { value: answers, error } = useLoaded(key, (signal) =>
    Promise.all(rows.map((row) => api.row(run, row, status.generation, signal))),
  );
  const { turns, divergence } = useMemo(() => alignedTurns(answers ?? []), [answers]);
  const section = useRef<HTMLElement>(null);
  useEffect(() => (divergence ? markDivergence(section.current) : undefined), [divergence]);
  if (error) return <p className="problem-box">{error}</p>;
  const columns = { gridTemplateColumns: `repeat(${rows.length}, minmax(min(320px, 85vw), 1fr))` };
  return (
    <>
      {divergence && (
        <p>
          <button
            type="button"
            className="link"
            onClick={() =>
              section.current?.querySelector(".item.diverges")?.scrollIntoView({ block: "center" })
            }
          >
            Go to the first difference ({turnName(divergence.turn)})
          </button>
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={section} className="panes" aria-label="Repeats side by side" tabIndex={0}>
        <div className="pane-line pane-heads" style={columns}>
          {rows.map((row) => (
            <header key={`${row.source}:${row.line}`} className="pane-head">
              <a href={addressOf({ view: viewOfRow(row) })}>
                {row.source === "failures" ? `Failure ${row.line}` : `Rollout ${row.rollout ?? row.line}`}
              </a>
              <RewardBadge row={row} threshold={threshold} />
              <span className="dim">
                {countText(row.turns ?? 0, "turn")}
                {row.output_tokens === null ? "" : `, ${shortCount(row.output_tokens)} tok`}
              </span>
            </header>
          ))}
        </div>
        {turns.map((cells, turn) => {
          // An input that all repeats share is shown once, over the full width.
          const isCommon = turn === 0 && divergence?.turn !== 0;
          return (
            <div key={turnName(turn)}>
              <p className={`turn-mark${divergence?.turn === turn ? " diverges" : ""}`}>
                {turnName(turn)}
                {divergence?.turn === turn && <b> first difference</b>}
              </p>
              <div className={isCommon ? "pane-common" : "pane-line"} style={isCommon ? {} : columns}>
                {cells.slice(0, isCommon ? 1 : undefined).map((items, place) => {
                  const row = rows[place];
                  return (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the panes never move
                    <div key={place} className="pane-cell">
                      {items.map((item, number) => (
                        <Item
                          key={item.place}
                          item={item}
                          diverges={divergence?.turn === turn && divergence.item === number}
                          // Shows the question; system messages of the input are closed.
                          open={turn > 0 || item.kind !== "system" || divergence?.turn === 0}
                          pane={row && { view: viewOfRow(row), number: place }}
                        />
                      ))}
                      {items.length === 0 && <p className="note">–</p>}
                    </div>
                  );
                })}
              </div>
            </div>
          );
        })}
      </section>
    </>
  );
}

function turnName(turn: number): string {
  return turn === 0 ? "Input" : `Turn ${turn}`;
}

function alignedTurns(answers: readonly (RowAnswer | undefined)[]): {
  turns: ConversationItem[][][];
  divergence: Divergence | undefined;
} {
  const all = answers.map((answer) =>
    turnsOf(isObject(answer?.row) ? conversationOf(answer.row as JsonObject) : []),
  );
  const length = Math.max(0, ...all.map((turns) => turns.length));
  const turns = Array.from({ length }, (_, turn) => all.map((own) => own[turn] ?? []));
  return { turns, divergence: firstDivergence(turns) };
}

/**
 * Highlights the first different word in the items that differ first; returns a function that removes the highlights.
 */
function markDivergence(panes: Element | null): () => void {
  const items = [...(panes?.querySelectorAll(".item.diverges") ?? [])];
  // The names of the tools differ, or the arguments and texts, or only the outputs.
  for (const part of [".item-toggle bdi", ".item-body", ".item-output"]) {
    const elements = items.flatMap((item) => item.querySelector(part) ?? []);
    const texts = elements.map((element) => element.textContent ?? "");
    if (new Set(texts).size === 1) continue;
    const spans = differingWords(texts);
    const ranges = elements.flatMap((element, place) => {
      const { start = 0, end = 0 } = spans[place] ?? {};
      return start === end ? [] : (rangeIn(element, start, end) ?? []);
    });
    CSS.highlights.set(DIVERGES, new Highlight(...ranges));
    break;
  }
  return () => CSS.highlights.delete(DIVERGES);
}

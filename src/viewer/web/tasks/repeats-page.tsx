import { useEffect, useMemo, useRef } from "react";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { ListedRow, RowAnswer, RunState, ViewerStatus } from "../../api-types.ts";
import { type ConversationItem, conversationOf } from "../../conversation/conversation.ts";
import { Item } from "../rollout/conversation.tsx";
import { rangeIn } from "../rollout/text-range.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { RewardBadge } from "../shared/badges.tsx";
import { Chip } from "../shared/elements.tsx";
import { countLabel, percentText, rewardText, shortCount } from "../shared/format.ts";
import { decoded, type Parameters, viewOfRow } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { Isolated, Plain } from "../text/plain.tsx";
import {
  answersOf,
  type Difference,
  differencesFrom,
  differingWords,
  firstDifferentCall,
  textsOf,
  turnsOf,
} from "./align.ts";

const PANES = 4;
const MAX_REPEATS = 200;
/** Items whose difference is highlighted. */
const MAX_MARKED = 200;
/** The highlight name of the differences between repeats. */
const DIVERGES = "diverges";

interface Props {
  run: RunId;
  task: number;
  parameters: Parameters;
  status: ViewerStatus;
  go: Go;
}

/** A column: a rollout of the task, in this run or in another one. */
interface Pane {
  /** Its name in the address. */
  key: string;
  run: RunId;
  /** The name of the run, if the page shows several. */
  runName: string | undefined;
  row: ListedRow;
  generation: number;
}

/** The repeats of one task side by side, aligned by turn; `with` adds those of other runs. */
export function RepeatsPage({ run, task, parameters, status, go }: Props) {
  const threshold = Number(parameters.pass ?? 1);
  const others = useMemo(() => othersIn(parameters.with), [parameters.with]);
  const key = JSON.stringify([run, task, others, status.version, status.annotated]);
  const { value: sources, error } = useLoaded(key, (signal) =>
    Promise.all(
      [{ run, task }, ...others].map(async (source, place) => {
        const { rows, generation } = await api.rollouts(
          source.run,
          { q: `task=${source.task}`, sort: "task", limit: MAX_REPEATS },
          signal,
        );
        const runName = others.length === 0 ? undefined : (source.run ?? status.run.name);
        return rows.map((row): Pane => {
          const name = `${row.source === "failures" ? "f" : ""}${row.line}`;
          const paneKey = place === 0 ? name : `${place}.${name}`;
          return { key: paneKey, run: source.run, runName, row, generation };
        });
      }),
    ),
  );
  if (error) return <p className="problem-box">{error}</p>;
  if (sources === undefined) return <p className="note">Loading…</p>;
  const all = sources.flat();
  const own = (sources[0] ?? []).map(({ row }) => row);
  const wanted = (parameters.panes ?? "").split(",").filter(Boolean);
  const shown =
    wanted.length > 0 ? all.filter(({ key: name }) => wanted.includes(name)) : usualPanes(sources);
  const panes = shown.length > 0 ? shown : all.slice(0, PANES);
  const toggle = (pane: Pane) => {
    const current = panes.map(({ key: name }) => name);
    const next = current.includes(pane.key)
      ? current.filter((each) => each !== pane.key)
      : [...current, pane.key].slice(-PANES);
    go({ parameters: { panes: next.join(",") || undefined }, replace: true });
  };
  const rewarded = own.filter(({ reward, masked }) => reward !== null && !masked);
  const passed = rewarded.filter(({ reward }) => (reward ?? 0) >= threshold).length;
  const failed = own.filter(({ failure }) => failure !== null).length;
  const repeats = new Set(own.map((row) => row.rollout ?? `${row.source}:${row.line}`)).size;
  const next = (by: number) =>
    addressOf({
      view: { name: "task", task: Math.max(0, task + by) },
      parameters: { with: withOf(others, by), panes: undefined },
    });
  return (
    <article className="repeats page" aria-label={`Task ${task}`}>
      <div className="title-line">
        <h1>Task {task}</h1>
        {own.length > 0 && (
          <span className="dim">
            {countLabel(repeats, "repeat")}
            {failed > 0 && `, ${countLabel(failed, "failed attempt")}`}, {passed} of {rewarded.length} passed
            ({percentText(passed, rewarded.length)})
          </span>
        )}
        <span className="spacer" />
        <a className="button" href={next(-1)} aria-label="Previous task">
          ‹
        </a>
        <a className="button" href={next(1)} aria-label="Next task">
          ›
        </a>
      </div>
      {sources.map((list, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
        <fieldset key={place} className="chips" aria-label={list[0]?.runName ?? "Repeats shown"}>
          {list[0]?.runName !== undefined && <Isolated className="dim" text={list[0].runName} />}
          {list.map((pane) => (
            <Chip key={pane.key} isOn={panes.includes(pane)} onClick={() => toggle(pane)}>
              {pane.row.source === "failures" ? "failed attempt at" : "repeat"}{" "}
              {pane.row.rollout ?? pane.row.line}:{" "}
              <Plain text={pane.row.failure ?? rewardText(pane.row.reward)} />
            </Chip>
          ))}
        </fieldset>
      ))}
      {all.length === 0 ? (
        <p className="note">{noRepeats(status.run.state, task)}</p>
      ) : (
        <Panes panes={panes} base={parameters.base} threshold={threshold} go={go} />
      )}
    </article>
  );
}

/** `RUN:TASK,…`: tasks of other runs. */
function othersIn(text: string | undefined): { run: string; task: number }[] {
  return (text ?? "")
    .split(",")
    .flatMap((each) => {
      const [, run, task] = /^([^:]+):(\d{1,15})$/.exec(each) ?? [];
      return run === undefined ? [] : [{ run: decoded(run), task: Number(task) }];
    })
    .slice(0, PANES - 1);
}

function withOf(others: readonly { run: string; task: number }[], by: number): string {
  return others.map(({ run, task }) => `${encodeURIComponent(run)}:${Math.max(0, task + by)}`).join(",");
}

/** The first rollouts of each run. */
function usualPanes(sources: readonly Pane[][]): Pane[] {
  const each = Math.max(1, Math.floor(PANES / sources.length));
  return sources.flatMap((list) => list.filter(({ row }) => row.source === "rollouts").slice(0, each));
}

/** A task of a run that is not done may still get rollouts, or never got one. */
function noRepeats(state: RunState, task: number): string {
  if (state === "running" || state === "paused") return "This task has no rollouts yet.";
  return state === "done" ? `This run has no task ${task}.` : `This run has no rollouts of task ${task}.`;
}

function Panes({
  panes,
  base: baseKey,
  threshold,
  go,
}: {
  panes: readonly Pane[];
  base: string | undefined;
  threshold: number;
  go: Go;
}) {
  const key = JSON.stringify(panes.map(({ key: name, run, generation }) => [name, run, generation]));
  const { value: answers, error } = useLoaded(key, (signal) =>
    Promise.all(panes.map(({ run, row, generation }) => api.row(run, row, generation, signal))),
  );
  const base = Math.max(
    0,
    panes.findIndex(({ key: name }) => name === baseKey),
  );
  const turns = useMemo(() => alignedTurns(answers ?? []), [answers]);
  const differences = useMemo(() => differencesFrom(turns, base), [turns, base]);
  const section = useRef<HTMLElement>(null);
  useEffect(() => markDifferences(turns, base, differences), [turns, base, differences]);
  if (error) return <p className="problem-box">{error}</p>;
  const columns = { gridTemplateColumns: `repeat(${panes.length}, minmax(min(320px, 85vw), 1fr))` };
  const [first] = differences;
  const isDifferent = (turn: number, item: number, column: number) =>
    differences.some((each) => each.turn === turn && each.item === item && each.columns.includes(column));
  return (
    <>
      <Jumps turns={turns} base={base} differences={differences} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section ref={section} className="panes" aria-label="Repeats side by side" tabIndex={0}>
        <div className="pane-line pane-heads" style={columns}>
          {panes.map(({ key: name, run, runName, row }, place) => (
            <header key={name} className="pane-head">
              {runName !== undefined && <Isolated className="pane-run" text={runName} />}
              <a href={addressOf({ run: runName === undefined ? undefined : run, view: viewOfRow(row) })}>
                {row.source === "failures" ? `Failure ${row.line}` : `Rollout ${row.rollout ?? row.line}`}
              </a>
              <RewardBadge row={row} threshold={threshold} />
              <span className="dim">
                {countLabel(row.turns ?? 0, "turn")}
                {row.output_tokens === null ? "" : `, ${shortCount(row.output_tokens)} tok`}
              </span>
              {panes.length > 1 && (
                <Chip
                  isOn={place === base}
                  onClick={() => go({ parameters: { base: place === 0 ? undefined : name }, replace: true })}
                >
                  base
                </Chip>
              )}
            </header>
          ))}
        </div>
        {turns.map((cells, turn) => {
          // An input that all repeats share is shown once, over the full width.
          const isCommon = turn === 0 && first?.turn !== 0;
          return (
            <div key={turnName(turn)}>
              <p className={`turn-mark${first?.turn === turn ? " diverges" : ""}`}>
                {turnName(turn)}
                {first?.turn === turn && <b> first difference</b>}
              </p>
              <div className={isCommon ? "pane-common" : "pane-line"} style={isCommon ? {} : columns}>
                {cells.slice(0, isCommon ? 1 : undefined).map((items, place) => {
                  const pane = panes[place];
                  return (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the panes never move
                    <div key={place} className="pane-cell">
                      {items.map((item, number) => (
                        <Item
                          key={item.place}
                          item={item}
                          diverges={isDifferent(turn, number, place)}
                          // Shows the question; system messages of the input are closed.
                          open={turn > 0 || item.kind !== "system" || first?.turn === 0}
                          pane={
                            pane && {
                              run: pane.runName === undefined ? undefined : (pane.run ?? undefined),
                              view: viewOfRow(pane.row),
                              number: place,
                            }
                          }
                        />
                      ))}
                      {items.length === 0 && (
                        <p className="note">{turn > 0 && place !== base ? "ended" : "–"}</p>
                      )}
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

type Turns = ConversationItem[][][];

/** Links to the first difference, tool call and answer that are not those of the base. */
function Jumps({
  turns,
  base,
  differences,
}: {
  turns: Turns;
  base: number;
  differences: readonly Difference[];
}) {
  const [first] = differences;
  const call = firstDifferentCall(turns, base, differences);
  const answers = answersOf(turns);
  const expected = answers[base];
  const other = answers.findIndex(
    (item) => (item && textsOf(item)) !== (expected && textsOf(expected)) && (item ?? expected) !== undefined,
  );
  if (first === undefined) return null;
  const show = (id: string | undefined) => {
    if (id !== undefined) document.getElementById(id)?.scrollIntoView({ block: "center" });
  };
  const idAt = (difference: Difference) =>
    [base, ...difference.columns].flatMap((column) => {
      const item = turns[difference.turn]?.[column]?.[difference.item];
      return item ? [itemId(column, item)] : [];
    })[0];
  const answerId = () => {
    const column = answers[other] ? other : base;
    const item = answers[column];
    return item && itemId(column, item);
  };
  return (
    <p className="jumps">
      <button type="button" className="link" onClick={() => show(idAt(first))}>
        Go to the first difference ({turnName(first.turn)})
      </button>
      {call && (
        <button type="button" className="link" onClick={() => show(idAt(call))}>
          first different tool call ({turnName(call.turn)})
        </button>
      )}
      {other !== -1 && (
        <button type="button" className="link" onClick={() => show(answerId())}>
          first different answer
        </button>
      )}
    </p>
  );
}

function itemId(column: number, item: ConversationItem): string {
  return `pane-${column}-item-${item.place}`;
}

function turnName(turn: number): string {
  return turn === 0 ? "Input" : `Turn ${turn}`;
}

function alignedTurns(answers: readonly (RowAnswer | undefined)[]): Turns {
  const all = answers.map((answer) =>
    turnsOf(isObject(answer?.row) ? conversationOf(answer.row as JsonObject) : []),
  );
  const length = Math.max(0, ...all.map((turns) => turns.length));
  return Array.from({ length }, (_, turn) => all.map((own) => own[turn] ?? []));
}

/**
 * Highlights the first word of each item that is not that of the base, or marks that it ends before; returns a function that removes the
 * marks.
 */
function markDifferences(turns: Turns, base: number, differences: readonly Difference[]): () => void {
  const ranges: Range[] = [];
  const ended: Element[] = [];
  for (const { turn, item, columns } of differences.slice(0, MAX_MARKED)) {
    const cells = turns[turn] ?? [];
    const expected = cells[base]?.[item];
    for (const column of columns) {
      const own = cells[column]?.[item];
      if (expected === undefined || own === undefined) continue;
      const elements = [base, column].map((each) =>
        document.getElementById(itemId(each, each === base ? expected : own)),
      );
      // The names of the tools differ, or the arguments and texts, or only the outputs.
      for (const part of [".item-toggle bdi", ".item-body", ".item-output"]) {
        const [before, after] = elements.map((element) => element?.querySelector(part));
        if (!before || !after || before.textContent === after.textContent) continue;
        const [, span] = differingWords([before.textContent ?? "", after.textContent ?? ""]);
        const range = span && span.start < span.end ? rangeIn(after, span.start, span.end) : undefined;
        if (range) ranges.push(range);
        else ended.push(after);
        break;
      }
    }
  }
  CSS.highlights.set(DIVERGES, new Highlight(...ranges));
  for (const element of ended) element.classList.add("ends-here");
  return () => {
    CSS.highlights.delete(DIVERGES);
    for (const element of ended) element.classList.remove("ends-here");
  };
}

import { useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { RowAnswer, RowRef, ViewerStatus } from "../../api-types.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import {
  type ConversationItem,
  conversationOf,
  ITEM_KINDS,
  type ItemKind,
} from "../../conversation/conversation.ts";
import { callOwners, invocationsOf } from "../../conversation/invocations.ts";
import { numberOf, objectOf } from "../../conversation/json-values.ts";
import { reasonsOf } from "../../conversation/reasons.ts";
import { callUsages, timelineOf } from "../../conversation/timeline.ts";
import { type TokenBoundary, tokenBoundariesOf } from "../../conversation/tokens.ts";
import { verdictOf } from "../../conversation/verdict.ts";
import { parseQuery } from "../../query/query.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { RewardBadge } from "../shared/badges.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { Chip, SignButton } from "../shared/elements.tsx";
import { bytesText, countLabel, dollarText, shortCount } from "../shared/format.ts";
import { useKeys } from "../shared/keyboard.ts";
import { type Parameters, parseRoute } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { addressOf, type Go } from "../shared/use-route.ts";
import { visibleText } from "../text/controls.ts";
import { AsMarkdown } from "../text/part.tsx";
import { Isolated, Needles, Plain } from "../text/plain.tsx";
import { Annotate } from "./annotate.tsx";
import { CallTable } from "./call-table.tsx";
import { Conversation } from "./conversation.tsx";
import { type CutValues, ElidedValues, isUnder, TooDeep, useCutValues } from "./cut-values.tsx";
import { FailureDetails, SchemaProblems } from "./failure.tsx";
import { RowFields } from "./fields.tsx";
import { Logs } from "./logs.tsx";
import { MatchJumps } from "./match-jumps.tsx";
import { Outline } from "./outline.tsx";
import { Timeline } from "./timeline.tsx";
import { timelinePlaces } from "./timeline-places.ts";
import { TokenPanel } from "./token-panel.tsx";
import { useReadingPlace } from "./use-reading-place.ts";
import { VerdictPanel } from "./verdict-panel.tsx";

interface Props {
  run: RunId;
  rowRef: RowRef;
  status: ViewerStatus;
  parameters: Parameters;
  threshold: number;
  isChosen: boolean;
  onChoose: () => void;
  go: Go;
  /** Where the outline of the conversation is shown, if anywhere. */
  outline: HTMLElement | null;
}

/** One rollout: verdict, conversation, and all other fields of its row. */
export function RolloutView(props: Props) {
  const { run, rowRef, status } = props;
  const key = `${run}:${rowRef.source}:${rowRef.line}:${status.generation}:${status.annotated}`;
  const {
    value: answer,
    error,
    key: loadedKey,
  } = useLoaded(key, (signal) => api.row(run, rowRef, status.generation, signal));
  if (error !== undefined && loadedKey === key)
    return (
      <>
        <h1>Rollout not available</h1>
        <p className="problem-box" role="alert">
          {error}
        </p>
      </>
    );
  if (answer === undefined) return <p className="note">Loading…</p>;
  return (
    <Loaded
      key={`${answer.source}:${answer.line}`}
      {...props}
      answer={answer}
      isCurrent={loadedKey === key}
    />
  );
}

function Loaded({ answer, isCurrent, ...props }: Props & { answer: RowAnswer; isCurrent: boolean }) {
  const { run, parameters, threshold, status, go } = props;
  const row = useMemo(() => (isObject(answer.row) ? (answer.row as JsonObject) : {}), [answer]);
  const cut = useCutValues(run, answer);
  const { items, verdict, spans, calls, invocations, places } = useRead(row, cut.version);
  const input = useMemo(() => (isObject(answer.input) ? answer.input : {}), [answer]);
  const reasons = useMemo(() => reasonsOf(row, input, items), [row, input, items]);
  const tokens = useTokens(row, items, cut);
  const [asMarkdown, setAsMarkdown] = useState(true);
  const [folded, setFolded] = useState(false);
  const hidden = useMemo(
    () => new Set((parameters.hide ?? "").split(",").filter(Boolean)),
    [parameters.hide],
  );
  const needles = useMemo(() => needlesOf(parameters.q), [parameters.q]);
  const { chars, turn } = parameters;
  const item = parameters.item === undefined ? undefined : Number(parameters.item);
  const selected = item !== undefined ? `item-${item}` : turn !== undefined ? `turn-${turn}` : undefined;
  const article = useRef<HTMLElement>(null);
  useReadingPlace(article, { id: selected, chars }, isCurrent);
  const about = aboutRow(answer, row);
  const repeat = (by: number) => {
    // The address changes before its row is loaded.
    const { view } = parseRoute(window.location.hash);
    const { task, rollout } = view.name === "rollout" ? view : about;
    if (task !== null && rollout !== null && rollout + by >= 0)
      go({ view: { name: "rollout", task, rollout: rollout + by } });
  };
  const step = (by: number) => {
    const shown = items.filter(({ kind }) => !hidden.has(kind));
    const at = shown.findIndex(({ place }) => place === item);
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) go({ parameters: { item: String(next.place) }, replace: true });
  };
  const isFailure = parseRoute(window.location.hash).view.name === "row";
  const openTask =
    about.task === null ? undefined : () => go({ view: { name: "task", task: about.task ?? 0 } });
  useKeys({
    ...(isFailure && { "[": () => repeat(-1), "]": () => repeat(1) }),
    n: () => step(1),
    p: () => step(-1),
    s: openTask,
    e: toggleFields,
    m: () => setAsMarkdown(!asMarkdown),
    c: () => setFolded(!folded),
  });
  const toggleKind = (kind: ItemKind) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    go({ parameters: { hide: [...next].join(",") || undefined }, replace: true });
  };
  const usageOf = (turn: number) => calls[places.callOfTurn(turn) ?? -1];
  const counts = new Map<ItemKind, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return (
    <Needles value={needles}>
      <AsMarkdown value={asMarkdown}>
        <article ref={article} aria-label={about.name} data-loaded={isCurrent}>
          <header className="rollout-head">
            <div className="title-line">
              <h1>{about.name}</h1>
              <RewardBadge row={about} threshold={threshold} />
              {about.masked && <span className="badge masked">masked</span>}
              <span className="spacer" />
              {about.task !== null && (
                <>
                  <SignButton label="Previous repeat" title="Previous repeat ([)" onClick={() => repeat(-1)}>
                    ‹
                  </SignButton>
                  <SignButton label="Next repeat" title="Next repeat (])" onClick={() => repeat(1)}>
                    ›
                  </SignButton>
                  <a
                    className="button"
                    href={addressOf({ view: { name: "task", task: about.task } })}
                    title="Compare the repeats of this task (s)"
                  >
                    Side by side
                  </a>
                </>
              )}
              {!api.isStatic && (
                <button type="button" aria-pressed={props.isChosen} onClick={props.onChoose}>
                  {props.isChosen ? "Chosen" : "Choose"}
                </button>
              )}
              <CopyButton
                text={() => (answer.raw === null ? prettyJson(answer.row) : answer.raw)}
                label="Copy rollout as JSON"
                caption="Copy JSON"
              />
            </div>
            <p className="dim facts">
              {about.facts.map((fact) => (
                <Isolated key={fact} text={fact} />
              ))}
              <Isolated
                title={visibleText(answer.path)}
                text={`${answer.path.split("/").at(-1)}:${answer.line}`}
              />
              <span>{bytesText(answer.bytes)}</span>
            </p>
          </header>
          {props.outline &&
            createPortal(
              <Outline items={items} hidden={hidden} usageOf={usageOf} article={article} />,
              props.outline,
            )}
          <FailureDetails row={row} answer={answer} />
          <SchemaProblems answer={answer} />
          {answer.raw !== null ? (
            <pre id="conversation" className="text code" tabIndex={-1}>
              <Plain text={answer.raw} />
            </pre>
          ) : (
            <>
              <VerdictPanel
                verdict={verdict}
                about={about}
                threshold={threshold}
                input={input}
                reasons={reasons}
              />
              <TooDeep fields={answer.too_deep} />
              <ElidedValues answer={answer} cut={cut} />
              {spans.some(({ kind }) => kind !== "other") && (
                <Timeline spans={spans} invocations={invocations} places={places} go={go} />
              )}
              <TokenPanel row={row} boundaries={tokens.boundaries} placeOf={tokens.placeOf} />
              <fieldset className="kinds" aria-label="Kinds of items">
                {ITEM_KINDS.filter((kind) => counts.has(kind)).map((kind) => (
                  <Chip
                    key={kind}
                    kind={`kind-${kind}`}
                    isOn={!hidden.has(kind)}
                    onClick={() => toggleKind(kind)}
                  >
                    {KIND_NAMES[kind]} {counts.get(kind)}
                  </Chip>
                ))}
                <Chip isOn={asMarkdown} onClick={() => setAsMarkdown(!asMarkdown)}>
                  Markdown
                </Chip>
                <Chip isOn={folded} onClick={() => setFolded(!folded)}>
                  Fold all
                </Chip>
                {needles.length > 0 && <MatchJumps needles={needles} cut={cut} />}
              </fieldset>
              <Conversation
                // Each item keeps its open state; a new key resets all of them.
                key={String(folded)}
                items={items}
                hidden={hidden}
                selected={selected}
                usageOf={usageOf}
                masked={Boolean(row["mask_sample"])}
                boundaries={tokens.byPlace}
                loadTokens={tokens.load}
                cut={cut}
                open={!folded}
              />
              {calls.length > 0 && <CallTable calls={calls} />}
              {status.can_annotate && about.task !== null && about.rollout !== null && (
                <Annotate
                  run={run}
                  task={about.task}
                  rollout={about.rollout}
                  annotation={answer.annotation}
                  labels={status.labels}
                />
              )}
              <RowFields row={row} verdict={verdict} />
              {!api.isStatic && (
                <Logs
                  run={run}
                  rollout={about.task === null ? undefined : `${about.task}-${about.rollout ?? 0}`}
                />
              )}
            </>
          )}
        </article>
      </AsMarkdown>
    </Needles>
  );
}

/** The parsed parts of the row; parsed again when a truncated value was loaded. */
function useRead(row: JsonObject, version: number) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: values are put into the row itself
  return useMemo(() => {
    const items = conversationOf(row);
    const invocations = invocationsOf(row);
    return {
      items,
      invocations,
      places: timelinePlaces(items, invocations, callOwners(row)),
      verdict: verdictOf(row),
      spans: timelineOf(row),
      calls: callUsages(row),
    };
  }, [row, version]);
}

/** How the calls continue each other's tokens, by call and by item of the conversation. */
function useTokens(row: JsonObject, items: readonly ConversationItem[], { values, load }: CutValues) {
  return useMemo(() => {
    const lists = values.filter(({ kind, path }) => kind === "numbers" && path[1] === "output");
    const boundaries = tokenBoundariesOf(row, (index) => lists.some(({ path }) => path[2] === index));
    const places = new Map(
      items.filter(({ from }) => from === "output").map((item) => [item.path[2], item.place]),
    );
    const placeOf = ({ outputIndex }: TokenBoundary) => places.get(outputIndex);
    const byPlace = new Map<number, TokenBoundary>();
    for (const boundary of boundaries) {
      const place = placeOf(boundary);
      if (place !== undefined) byPlace.set(place, boundary);
    }
    const cutIn = new Map(
      items.map((item) => [item, lists.filter((value) => isUnder(value, item.path))] as const),
    );
    const loaders = new Map(
      [...cutIn]
        .filter(([, own]) => own.length > 0)
        .map(([item, own]) => [item, () => own.forEach((value) => void load(value))] as const),
    );
    return { boundaries, byPlace, placeOf, load: (item: ConversationItem) => loaders.get(item) };
  }, [row, items, values, load]);
}

const KIND_NAMES: Record<ItemKind, string> = {
  system: "system",
  user: "user",
  reasoning: "reasoning",
  call: "tools",
  assistant: "assistant",
  item: "other",
};

/** The texts of a query; a term that cannot be parsed marks nothing. */
function needlesOf(q: string | undefined): string[] {
  try {
    return parseQuery(q ?? "").flatMap((term) =>
      term.kind === "text" && !term.negated && term.text !== "" ? [term.text] : [],
    );
  } catch {
    return [];
  }
}

export interface AboutRow {
  name: string;
  task: number | null;
  rollout: number | null;
  reward: number | null;
  failure: string | null;
  masked: boolean;
  readable: boolean;
  facts: string[];
}

function aboutRow({ source, line, readable }: RowAnswer, row: JsonObject): AboutRow {
  const response = objectOf(row["response"]);
  const usage = objectOf(response["usage"]);
  const agent = isObject(row["agent_ref"]) ? row["agent_ref"]["name"] : undefined;
  const failure = typeof row["_ng_failure_class"] === "string" ? row["_ng_failure_class"] : null;
  const [task, rollout] = [numberOf(row["_ng_task_index"]), numberOf(row["_ng_rollout_index"])];
  const tokens = [numberOf(usage["input_tokens"]), numberOf(usage["output_tokens"])];
  const cost = numberOf(usage["ng_cost"]);
  const attempt = numberOf(row["_ng_attempt_index"]) ?? 0;
  return {
    name:
      task === null
        ? `${source === "failures" ? "Failure" : "Row"} ${line}`
        : `Task ${task} · rollout ${rollout ?? "?"}${source === "failures" ? " · failed attempt" : ""}`,
    task,
    rollout,
    reward: typeof row["reward"] === "boolean" ? Number(row["reward"]) : numberOf(row["reward"]),
    failure,
    masked: Boolean(row["mask_sample"]) && failure === null,
    readable,
    facts: [
      typeof agent === "string" ? agent : "",
      typeof response["model"] === "string" ? response["model"] : "",
      tokens[0] === null && tokens[1] === null
        ? ""
        : `${shortCount(tokens[0] ?? 0)} in, ${shortCount(tokens[1] ?? 0)} out`,
      cost === null ? "" : dollarText(cost),
      attempt > 0 && failure === null ? `completed after ${countLabel(attempt, "failed attempt")}` : "",
    ].filter(Boolean),
  };
}

/** Opens all fields of the row, or closes them if any is open. */
function toggleFields(): void {
  const fields = [...document.querySelectorAll<HTMLDetailsElement>(".fields details")];
  const open = !fields.some((field) => field.open);
  for (const field of fields) field.open = open;
}

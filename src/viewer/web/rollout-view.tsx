import { useMemo } from "react";
import type { ListedRow, RowAnswer, RowRef } from "../api-types.ts";
import { type ChatEntry, chatOf, prettyJson, sampleLabel } from "../chat-model.ts";
import { api } from "./api-client.ts";
import { RewardBadge } from "./badges.tsx";
import { Entry } from "./chat-entry.tsx";
import { CopyButton } from "./copy-button.tsx";
import { bytesText } from "./format.ts";
import { useLoaded } from "./use-loaded.ts";

interface Props {
  rowRef: RowRef;
  generation: number;
  threshold: number;
  onTask: (task: number) => void;
}

/** One rollout as a conversation. */
export function RolloutView({ rowRef, generation, threshold, onTask }: Props) {
  const key = `${rowRef.source}:${rowRef.line}:${generation}`;
  const {
    value: answer,
    error,
    key: loadedKey,
  } = useLoaded(key, (signal) => api.row(rowRef, generation, signal));
  if (error !== undefined && loadedKey === key)
    return (
      <p className="problem-box" role="alert">
        {error}
      </p>
    );
  if (answer === undefined) return <p className="note">Loading…</p>;
  return (
    <article
      key={loadedKey}
      aria-label={`${answer.source} line ${answer.line}`}
      data-loaded={loadedKey === key}
    >
      <RolloutHead answer={answer} threshold={threshold} onTask={onTask} />
      <Problems answer={answer} />
      {answer.raw === null ? (
        <Conversation row={answer.row} />
      ) : (
        <pre className="text code">{answer.raw}</pre>
      )}
    </article>
  );
}

function RolloutHead({
  answer,
  threshold,
  onTask,
}: { answer: RowAnswer } & Pick<Props, "threshold" | "onTask">) {
  const about = aboutRow(answer);
  return (
    <header className="rollout-head">
      <div className="title-line">
        <h1>
          {about.task === null ? sampleLabel(about) : `Task ${about.task}`}
          {about.rollout !== null && <span className="dim"> · rollout {about.rollout}</span>}
        </h1>
        <RewardBadge row={about} threshold={threshold} />
        {about.masked && <span className="badge masked">masked</span>}
        <span className="spacer" />
        {about.task !== null && (
          <button
            type="button"
            onClick={() => onTask(about.task ?? 0)}
            title="Compare the repeats of this task (t)"
          >
            Side by side
          </button>
        )}
        <CopyButton
          text={() => (answer.raw === null ? prettyJson(answer.row) : answer.raw)}
          label="Copy rollout as JSON"
          caption="Copy JSON"
        />
      </div>
      <p className="dim facts">
        {about.task !== null && <span>{sampleLabel(about)}</span>}
        {about.agent !== null && <span>{about.agent}</span>}
        <span title={answer.path}>
          {answer.path.split("/").at(-1)}:{answer.line}
        </span>
        <span>{bytesText(answer.bytes)}</span>
      </p>
    </header>
  );
}

function Problems({ answer }: { answer: RowAnswer }) {
  const failure = failureOf(answer.row);
  if (failure === undefined && answer.problems.length === 0) return null;
  return (
    <section
      className={failure === undefined && answer.state === "invalid" ? "problem-box mild" : "problem-box"}
      aria-label="Problems"
    >
      {failure && (
        <p>
          <b>{failure.title}</b> {failure.message}
        </p>
      )}
      {answer.problems.length > 0 && (
        <>
          <p>
            <b>
              {answer.path}:{answer.line}
            </b>{" "}
            {answer.state === "unreadable" ? "cannot be read." : "is not a verify response in every respect:"}
          </p>
          <ul>
            {answer.problems.map(({ path, message }) => (
              <li key={`${path}${message}`}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** The fields of the row, then the turns. */
export function Conversation({ row }: { row: unknown }) {
  const entries = useMemo(() => chatOf(row as Record<string, unknown>), [row]);
  const fields = entries.filter(({ from }) => from === "row");
  return (
    <>
      <section className="fields" aria-label="Row">
        {fields.map((entry) => (
          <Entry key={entry.title} entry={entry} open={false} />
        ))}
      </section>
      <Turns
        entries={entries.filter(({ from }) => from !== "row")}
        empty="There is no conversation in this row."
      />
    </>
  );
}

export function Turns({ entries, empty }: { entries: readonly ChatEntry[]; empty: string }) {
  return (
    <section className="turns" aria-label="Conversation">
      {entries.map((entry, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the entries of a row never change
        <Entry key={place} entry={entry} />
      ))}
      {entries.length === 0 && <p className="note">{empty}</p>}
    </section>
  );
}

type About = Pick<
  ListedRow,
  "source" | "line" | "task" | "rollout" | "reward" | "failure" | "state" | "masked" | "response_id" | "agent"
>;

function aboutRow({ row, source, line, state }: RowAnswer): About {
  const fields = (row ?? {}) as Record<string, unknown>;
  const response = (fields["response"] ?? {}) as Record<string, unknown>;
  const agent = (fields["agent_ref"] ?? {}) as Record<string, unknown>;
  const failure = fields["_ng_failure_class"];
  return {
    source,
    line,
    state,
    task: numberOf(fields["_ng_task_index"]),
    rollout: numberOf(fields["_ng_rollout_index"]),
    reward: numberOf(fields["reward"]),
    failure: typeof failure === "string" ? failure : null,
    masked: Boolean(fields["mask_sample"]) && typeof failure !== "string",
    response_id: typeof response["id"] === "string" ? response["id"] : null,
    agent: typeof agent["name"] === "string" ? agent["name"] : null,
  };
}

/** Floats such as `1.0` come wrapped from the exact reader. */
function numberOf(value: unknown): number | null {
  const number =
    typeof value === "boolean" || (value !== null && typeof value === "object") ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

function failureOf(row: unknown): { title: string; message: string } | undefined {
  const fields = (row ?? {}) as Record<string, unknown>;
  if (typeof fields["_ng_failure_class"] !== "string") return undefined;
  const failure = (fields["_ng_failure"] ?? {}) as Record<string, unknown>;
  const stage = typeof failure["stage"] === "string" ? ` during ${failure["stage"]}` : "";
  const message = failure["message"] ?? fields["_ng_failure_judge_error"];
  const again = failure["retryable"] === true ? " (may be tried again)" : "";
  return {
    title: `${fields["_ng_failure_class"]}${stage}${again}`,
    message: typeof message === "string" ? message : "",
  };
}

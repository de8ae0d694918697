import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { RowAnswer } from "../../api-types.ts";
import { countLabel, rewardText } from "../shared/format.ts";
import { addressOf } from "../shared/use-route.ts";
import { Isolated, Plain, PlainBlock } from "../text/plain.tsx";

/** Why an attempt failed, and all attempts at the same rollout. */
export function FailureDetails({ row, answer }: { row: JsonObject; answer: RowAnswer }) {
  const failure = failureOf(row);
  if (failure === undefined && answer.attempts.length < 2) return null;
  return (
    <section className={failure ? "failure problem-box" : "failure"} aria-label="Failure and attempts">
      {failure && (
        <>
          <p>
            <b>
              <Isolated text={failure.class} />
            </b>
            {failure.stage && (
              <>
                {" "}
                in stage <Isolated text={failure.stage} />
              </>
            )}
            {failure.retryable !== undefined && (failure.retryable ? ", can be retried" : ", not retryable")}
          </p>
          <PlainBlock text={failure.message} className="text" />
        </>
      )}
      {answer.attempts.length > 1 && (
        <ol className="attempts" aria-label="Attempts">
          {answer.attempts.map(({ source, line, failure: name, reward }, place) => {
            const isThis = source === answer.source && line === answer.line;
            return (
              <li key={`${source}:${line}`}>
                <a
                  href={addressOf({ view: { name: "row", ref: { source, line } } })}
                  aria-current={isThis ? "true" : undefined}
                >
                  attempt {place + 1}: <Isolated text={name ?? `completed, reward ${rewardText(reward)}`} />
                </a>
              </li>
            );
          })}
        </ol>
      )}
    </section>
  );
}

function failureOf(row: JsonObject) {
  if (typeof row["_ng_failure_class"] !== "string") return undefined;
  const failure = isObject(row["_ng_failure"]) ? row["_ng_failure"] : {};
  const message = failure["message"] ?? row["_ng_failure_message"] ?? row["_ng_failure_judge_error"];
  return {
    class: row["_ng_failure_class"],
    stage: typeof failure["stage"] === "string" ? failure["stage"] : undefined,
    retryable: typeof failure["retryable"] === "boolean" ? failure["retryable"] : undefined,
    message: typeof message === "string" ? message : "",
  };
}

/**
 * The schema problems of the row. Rollouts of other programs often differ from the schema, so they are shown in one
 * discreet line.
 */
export function SchemaProblems({ answer }: { answer: RowAnswer }) {
  if (answer.problems.length === 0) return null;
  const list = (
    <ul>
      {answer.problems.map(({ path, message }) => (
        <li key={`${path}${message}`}>
          {path && (
            <code>
              <Isolated text={path} />
            </code>
          )}{" "}
          <Isolated text={message} />
        </li>
      ))}
    </ul>
  );
  if (!answer.readable)
    return (
      <section className="problem-box" aria-label="Problems">
        <p>
          <b>
            <Plain text={`${answer.path}:${answer.line}`} />
          </b>{" "}
          cannot be read.
        </p>
        {list}
      </section>
    );
  return (
    <details className="schema-note">
      <summary>
        {countLabel(answer.problems.length, "difference", "differences")} from the verify response schema
      </summary>
      {list}
    </details>
  );
}

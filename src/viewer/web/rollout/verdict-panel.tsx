import { type JsonObject, orderedKeys } from "../../../base/python/json/door.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import type { Reason } from "../../conversation/reasons.ts";
import { type Verdict, verdictOf } from "../../conversation/verdict.ts";
import { countLabel, type RewardMark, rewardMark, rewardText } from "../shared/format.ts";
import { JsonTree } from "../text/json-tree.tsx";
import { LongText } from "../text/long-text.tsx";
import { Isolated, PlainBlock } from "../text/plain.tsx";
import type { AboutRow } from "./rollout-view.tsx";

interface Props {
  verdict: Verdict;
  about: AboutRow;
  /** The lowest reward that passes. */
  threshold: number;
  /** The fields of the task's row in the input of the run. */
  input: JsonObject;
  reasons: readonly Reason[];
}

const WORDS: Record<RewardMark, string> = {
  pass: "passed",
  part: "partial reward",
  fail: "not passed",
  none: "no reward",
};

/** The verdict of the verifier, and what it expected, at the top. */
export function VerdictPanel({ verdict, about, threshold, input, reasons }: Props) {
  const { components, extracted, judge } = verdict;
  const fromInput = verdict.expected === undefined ? verdictOf(input).expected : undefined;
  const expected = verdict.expected ?? fromInput;
  const inputKeys = orderedKeys(input);
  // A failed attempt has no verdict, unless the verifier was part of it.
  const isEmpty = components.length + judge.length === 0 && !extracted && !verdict.expected;
  if (about.failure !== null && isEmpty) return null;
  const mark = about.failure === null ? rewardMark(about.reward, threshold) : "failed";
  return (
    <section className={`verdict ${mark}`} aria-label="Verdict">
      <div className="verdict-reward">
        <span className="hidden">reward </span>
        <b>{about.failure === null ? rewardText(about.reward) : "none"}</b>
        <span>{mark === "failed" ? "failed" : WORDS[mark]}</span>
      </div>
      <div className="verdict-why">
        {reasons.length > 0 && (
          <ul className="reasons" aria-label="Reasons">
            {reasons.map((reason, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two reasons may be equal, and they never move
              <li key={place} className={reason.isGood ? "good" : "bad"}>
                <Isolated text={reason.text} />
                {reason.detail !== undefined && (
                  <div className="json">
                    <JsonTree value={reason.detail} />
                  </div>
                )}
              </li>
            ))}
          </ul>
        )}
        {(extracted || expected) && (
          <div className="answers">
            {extracted && <Answer title={`extracted (${extracted.name})`} value={extracted.value} />}
            {expected && (
              <Answer
                title={`expected (${expected.name}${fromInput ? " of the input" : ""})`}
                value={expected.value}
              />
            )}
          </div>
        )}
        {components.length > 0 && (
          <div className="components">
            {components.slice(0, 24).map(({ name, value }) => (
              <span
                key={name}
                className={`component${value === true ? " yes" : value === false ? " no" : ""}`}
              >
                <Isolated text={name} />{" "}
                <b>{typeof value === "boolean" ? (value ? "yes" : "no") : rewardText(value)}</b>
              </span>
            ))}
          </div>
        )}
        {judge.map(({ name, value }) => (
          <details key={name} className="judge" open={typeof value === "string" && value.length < 300}>
            <summary>
              <Isolated text={name} />
            </summary>
            <div className="json">
              {typeof value === "string" ? (
                <LongText text={value} render={(text) => <PlainBlock text={text} className="text" />} />
              ) : (
                <JsonTree value={value} open />
              )}
            </div>
          </details>
        ))}
        {inputKeys.length > 0 && (
          <details className="task-input">
            <summary>input of the task ({countLabel(inputKeys.length, "field")})</summary>
            <div className="json">
              <JsonTree value={input} open />
            </div>
          </details>
        )}
        {components.length + judge.length + reasons.length + inputKeys.length === 0 &&
          !extracted &&
          !expected && <p className="note">The verifier gave no further fields.</p>}
      </div>
    </section>
  );
}

function Answer({ title, value }: { title: string; value: unknown }) {
  return (
    <div className="answer-box">
      <Isolated className="fact-name" text={title} />
      {value === null ? (
        <p className="note">none</p>
      ) : typeof value === "number" || typeof value === "boolean" ? (
        <p className="text">{prettyJson(value)}</p>
      ) : typeof value === "string" ? (
        <LongText
          text={value}
          render={(text) => (
            <PlainBlock text={text} className={`text${text.length > 200 ? " is-long" : ""}`} />
          )}
        />
      ) : (
        <div className="json">
          <JsonTree value={value} />
        </div>
      )}
    </div>
  );
}

import { type JsonObject, orderedKeys } from "../../../base/python/json/door.ts";
import type { Reason } from "../../conversation/reasons.ts";
import { type Verdict, verdictOf } from "../../conversation/verdict.ts";
import { countLabel, rewardText } from "../shared/format.ts";
import { JsonTree } from "../text/json-tree.tsx";
import { LongText } from "../text/long-text.tsx";
import { Isolated, PlainBlock } from "../text/plain.tsx";
import type { AboutRow } from "./rollout-view.tsx";

interface Props {
  verdict: Verdict;
  about: AboutRow;
  /** The fields of the task's row in the input of the run. */
  input: JsonObject;
  reasons: readonly Reason[];
}

/** The verdict of the verifier, and what it expected, at the top. */
export function VerdictPanel({ verdict, about, input, reasons }: Props) {
  const { components, extracted, judge } = verdict;
  const fromInput = verdict.expected === undefined ? verdictOf(input).expected : undefined;
  const expected = verdict.expected ?? fromInput;
  const inputKeys = orderedKeys(input);
  // A failed attempt has no verdict, unless the verifier was part of it.
  const isEmpty = components.length + judge.length === 0 && !extracted && !verdict.expected;
  if (about.failure !== null && isEmpty) return null;
  return (
    <section className="verdict" aria-label="Verdict">
      <div className="verdict-line">
        <span className="verdict-reward">
          <span className="fact-name">reward</span>
          <b>{about.failure === null ? rewardText(about.reward) : "none"}</b>
        </span>
        {components.slice(0, 24).map(({ name, value }) => (
          <span key={name} className={`component${value === true ? " yes" : value === false ? " no" : ""}`}>
            <Isolated text={name} />{" "}
            <b>{typeof value === "boolean" ? (value ? "yes" : "no") : rewardText(value)}</b>
          </span>
        ))}
      </div>
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
    </section>
  );
}

function Answer({ title, value }: { title: string; value: unknown }) {
  return (
    <div className="answer-box">
      <Isolated className="fact-name" text={title} />
      {value === null ? (
        <p className="note">none</p>
      ) : typeof value === "string" ? (
        <LongText text={value} render={(text) => <PlainBlock text={text} className="text" />} />
      ) : (
        <div className="json">
          <JsonTree value={value} />
        </div>
      )}
    </div>
  );
}

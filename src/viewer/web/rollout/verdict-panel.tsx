import type { Verdict } from "../../conversation/verdict.ts";
import { rewardText } from "../shared/format.ts";
import { JsonTree } from "../text/json-tree.tsx";
import { LongText } from "../text/long-text.tsx";
import { Isolated, PlainBlock } from "../text/plain.tsx";
import type { AboutRow } from "./rollout-view.tsx";

/** The verdict of the verifier, at the top. */
export function VerdictPanel({ verdict, about }: { verdict: Verdict; about: AboutRow }) {
  const { components, extracted, expected, judge } = verdict;
  // A failed attempt has no verdict, unless the verifier was part of it.
  const isEmpty = components.length + judge.length === 0 && !extracted && !expected;
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
      {(extracted || expected) && (
        <div className="answers">
          <Answer
            title={extracted ? `extracted (${extracted.name})` : "extracted"}
            value={extracted?.value}
          />
          <Answer title={expected ? `expected (${expected.name})` : "expected"} value={expected?.value} />
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
    </section>
  );
}

function Answer({ title, value }: { title: string; value: unknown }) {
  return (
    <div className="answer-box">
      <Isolated className="fact-name" text={title} />
      {value === undefined ? (
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

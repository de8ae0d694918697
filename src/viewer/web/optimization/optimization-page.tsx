import type { Optimization, OptimizedCandidate } from "../../api-types.ts";
import { TextDiff } from "../compare/text-diff.tsx";
import { api } from "../shared/api-client.ts";
import { Scrolls, TableHead } from "../shared/elements.tsx";
import { countLabel, dollarText, estimateLabel, fixedText } from "../shared/format.ts";
import { useScrollFocus } from "../shared/keyboard.ts";
import { formatRoute, type Parameters } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import { Isolated } from "../text/plain.tsx";

const MAX_TASKS = 100;

/** What `gym optimize` tried: the candidates as a tree, and how the chosen one differs from its parent. */
export function OptimizationPage({ parameters }: { parameters: Parameters }) {
  const { name = ".", item } = parameters;
  const { value: optimization, error } = useLoaded(`optimization:${name}`, (signal) =>
    api.optimization(name, signal),
  );
  useScrollFocus();
  if (error !== undefined && optimization === undefined) return <p className="note problem">{error}</p>;
  if (optimization === undefined) return <p className="note">Reading the record…</p>;
  const { candidates, proposals, rollouts, tokens, spent, test } = optimization;
  const chosen =
    candidates.find(({ index }) => String(index) === item) ??
    candidates.find(({ index }) => index === test?.candidate) ??
    best(candidates);
  return (
    <article className="optimization page" aria-label="Optimization">
      <div className="title-line">
        <h1>
          Optimization <Isolated text={name === "." ? "" : name} />
        </h1>
        <span className="dim">
          {countLabel(candidates.filter(({ accepted }) => accepted).length, "candidate")},{" "}
          {countLabel(proposals, "proposal")}, {countLabel(rollouts, "rollout")},{" "}
          {countLabel(tokens, "token")}, {dollarText(spent)}
        </span>
      </div>
      <TestResult test={test} />
      <Tree candidates={candidates} chosen={chosen?.index} name={name} />
      {chosen && (
        <Changes
          candidate={chosen}
          parent={candidates.find(({ index }) => index === chosen.parents[0])}
          name={name}
        />
      )}
    </article>
  );
}

function best(candidates: readonly OptimizedCandidate[]): OptimizedCandidate | undefined {
  return candidates
    .filter(({ accepted }) => accepted)
    .toSorted((left, right) => (right.score ?? 0) - (left.score ?? 0))[0];
}

function TestResult({ test }: { test: Optimization["test"] }) {
  if (test === null) return <p className="dim">The test split has not been run.</p>;
  const { candidate, before, after, difference } = test;
  const isBetter = difference.low !== null && difference.low > 0;
  return (
    <p>
      <strong>{isBetter ? "Improved" : "No improvement shown"}</strong> on{" "}
      {countLabel(difference.tasks, "test task")}: candidate {candidate} has {estimateLabel(after)}, the texts
      as they were {estimateLabel(before)}; difference {estimateLabel(difference)}.
    </p>
  );
}

interface Place {
  candidate: OptimizedCandidate;
  depth: number;
}

/** Each candidate below its first parent. */
function inTree(candidates: readonly OptimizedCandidate[]): Place[] {
  const below = (parent: number | undefined, depth: number): Place[] =>
    candidates
      .filter(({ parents }) => parents[0] === parent)
      .flatMap((candidate) => [{ candidate, depth }, ...below(candidate.index, depth + 1)]);
  return below(undefined, 0);
}

function addressOf(name: string, item: number): string {
  return formatRoute({
    run: null,
    view: { name: "optimization" },
    parameters: { name, item: String(item) },
  });
}

function Tree({
  candidates,
  chosen,
  name,
}: {
  candidates: readonly OptimizedCandidate[];
  chosen: number | undefined;
  name: string;
}) {
  return (
    <Scrolls label="Candidates">
      <table className="numbers-table" aria-label="Candidates">
        <TableHead names={["candidate", "changed", "validation", "better on", "worse on", "result"]} />
        <tbody>
          {inTree(candidates).map(({ candidate, depth }) => {
            const { index, parents, component, accepted, score, won, lost } = candidate;
            return (
              <tr key={index} className={accepted ? undefined : "dim"}>
                <th scope="row" style={{ paddingInlineStart: `${8 + Math.min(depth, 12) * 16}px` }}>
                  <a href={addressOf(name, index)} aria-current={index === chosen ? "true" : undefined}>
                    {depth > 0 && "└ "}
                    {index}
                  </a>
                </th>
                <td>
                  {index === 0 ? (
                    "texts as they were"
                  ) : component === null ? (
                    `merge of ${parents.join(" and ")}`
                  ) : (
                    <Isolated text={component} />
                  )}
                </td>
                <td>{accepted && score !== null ? fixedText(score, 3) : "–"}</td>
                <td>{accepted && index > 0 ? won.length : "–"}</td>
                <td>{accepted && index > 0 ? lost.length : "–"}</td>
                <td>{accepted ? "kept" : "not better on a few tasks"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scrolls>
  );
}

function Changes({
  candidate,
  parent,
  name,
}: {
  candidate: OptimizedCandidate;
  parent: OptimizedCandidate | undefined;
  name: string;
}) {
  const names = Object.keys(candidate.texts);
  const changed = names.filter((text) => candidate.texts[text] !== parent?.texts[text]);
  return (
    <section aria-label={`Candidate ${candidate.index}`}>
      <h2>
        Candidate {candidate.index}
        {parent && <span className="dim"> compared with {parent.index}</span>}
      </h2>
      <Tasks caption="Better on" tasks={candidate.won} name={name} />
      <Tasks caption="Worse on" tasks={candidate.lost} name={name} />
      {changed.map((text) => (
        <section key={text}>
          <h3>
            <Isolated text={text} />
          </h3>
          <TextDiff
            before={parent?.texts[text] ?? candidate.texts[text] ?? ""}
            after={candidate.texts[text] ?? ""}
          />
        </section>
      ))}
    </section>
  );
}

/** Links to the rollouts of the candidate. */
function Tasks({
  caption,
  tasks,
  name,
}: {
  caption: string;
  tasks: OptimizedCandidate["won"];
  name: string;
}) {
  if (tasks.length === 0) return null;
  return (
    <p className="optimization-links">
      {caption}{" "}
      {tasks.slice(0, MAX_TASKS).map(({ task, directory }) => {
        const run = name === "." ? directory : `${name}/${directory}`;
        return (
          <a key={task} href={formatRoute({ run, view: { name: "task", task }, parameters: {} })}>
            task {task}
          </a>
        );
      })}
      {tasks.length > MAX_TASKS && ` and ${tasks.length - MAX_TASKS} more`}
    </p>
  );
}

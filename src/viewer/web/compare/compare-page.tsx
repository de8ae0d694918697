import type { CompareAnswer, ComparedTask, RunsAnswer } from "../../api-types.ts";
import { api } from "../shared/api-client.ts";
import { Chip, Choice, EmptyState, Scrolls, TableHead } from "../shared/elements.tsx";
import { countLabel, fixedText, rewardMark } from "../shared/format.ts";
import { Interval } from "../shared/interval.tsx";
import { useScrollFocus } from "../shared/keyboard.ts";
import { formatRoute, type Parameters } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import type { Go } from "../shared/use-route.ts";
import { Isolated } from "../text/plain.tsx";
import { TextDiff } from "./text-diff.tsx";

interface Props {
  current: string | undefined;
  parameters: Parameters;
  runs: RunsAnswer | undefined;
  go: Go;
}

const CHANGES: readonly ComparedTask["change"][] = ["improved", "regressed", "unchanged", "missing"];
const MATCHES = [
  ["", "index and content"],
  ["index", "index"],
  ["content", "content"],
] as const;
const MAX_RUNS = 6;

/** Runs joined by task: which tasks improved or regressed, and whether the difference is significant. */
export function ComparePage({ current, parameters, runs, go }: Props) {
  const chosen = (parameters.runs ?? "").split(",").filter(Boolean).map(decodeURIComponent);
  const ids = chosen.length > 0 ? chosen : current ? [current] : [];
  const set = (next: readonly string[]) =>
    go({ parameters: { runs: next.map(encodeURIComponent).join(",") || undefined } });
  const { change, match } = parameters;
  const key = ids.length < 2 ? undefined : JSON.stringify([ids, change, match]);
  const {
    value,
    error,
    key: loadedKey,
  } = useLoaded(key, (signal) =>
    api.compare({ runs: ids.map(encodeURIComponent).join(","), change, match }, signal),
  );
  useScrollFocus();
  const others = runs?.runs.filter(({ id }) => !ids.includes(id)) ?? [];
  return (
    <article className="compare page" aria-label="Compare runs">
      <div className="title-line">
        <h1>Compare</h1>
        {ids.map((id, place) => (
          <span key={id} className="chip saved">
            {place === 0 ? <span className="dim">baseline </span> : null}
            <bdi>{id}</bdi>
            <button
              type="button"
              aria-label={`Remove ${id}`}
              onClick={() => set(ids.filter((other) => other !== id))}
            >
              ×
            </button>
          </span>
        ))}
        {others.length > 0 && ids.length < MAX_RUNS && (
          <select aria-label="Add a run" value="" onChange={(event) => set([...ids, event.target.value])}>
            <option value="">Add a run…</option>
            {others.slice(0, 500).map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
        {ids.length === 2 && (
          <button type="button" className="quiet" onClick={() => set(ids.toReversed())}>
            Swap
          </button>
        )}
        <span className="spacer" />
        <Choice
          label="match tasks by"
          value={match}
          options={MATCHES}
          onChoose={(value) => go({ parameters: { match: value } })}
        />
      </div>
      {ids.length < 2 && (
        <EmptyState title={others.length > 0 ? "Choose a second run" : "There is only one run"}>
          {others.length > 0 ? (
            "A comparison needs a baseline and at least one other run. Add one with the list above."
          ) : (
            <>
              A comparison needs two runs. Open a directory with several runs, or name two:{" "}
              <code>gym eval view BEFORE AFTER</code>.
            </>
          )}
        </EmptyState>
      )}
      {error && loadedKey === key && <p className="problem-box">{error}</p>}
      {key !== undefined && value && <Result comparison={value} parameters={parameters} go={go} />}
      {key !== undefined && !value && !error && <p className="note">Comparing…</p>}
    </article>
  );
}

function Result({
  comparison,
  parameters,
  go,
}: {
  comparison: CompareAnswer;
  parameters: Parameters;
  go: Go;
}) {
  const { runs, pairs, tasks, config, prompts } = comparison;
  const differentPrompts = new Set(prompts).size > 1;
  return (
    <>
      <Scrolls label="Runs">
        <table className="numbers-table wide">
          <TableHead
            names={[
              "run",
              "reward, 95 % interval",
              "tasks",
              "rollouts",
              "difference, paired 95 % interval",
              "better / worse / same",
              "p (t, sign, permutation)",
            ]}
            isNumber={(place) => [2, 3, 5, 6].includes(place)}
          />
          <tbody>
            {runs.map((run, place) => {
              const pair = pairs[place - 1];
              return (
                <tr key={run.id}>
                  <th scope="row">
                    <a href={formatRoute({ run: run.id, view: { name: "overview" }, parameters: {} })}>
                      <bdi>{run.name}</bdi>
                    </a>
                  </th>
                  <td>{run.reward === null ? "–" : <Interval of={run.reward} />}</td>
                  <td className="number">{run.tasks.toLocaleString("en")}</td>
                  <td className="number">{run.rollouts.toLocaleString("en")}</td>
                  {pair === undefined ? (
                    <td colSpan={3} className="dim">
                      baseline
                    </td>
                  ) : pair.problem !== null ? (
                    <td colSpan={3} className="problem">
                      {pair.problem}
                    </td>
                  ) : (
                    <>
                      <td className={`pair-difference ${signOf(pair.difference)}`}>
                        {pair.difference === null ? "–" : <Interval of={pair.difference} sign />}
                      </td>
                      <td className="number">
                        {pair.wins} / {pair.losses} / {pair.ties}
                      </td>
                      <td className="number">
                        {[pair.paired_t_p, pair.sign_test_p, pair.permutation_p]
                          .map((p) => (p === null ? "–" : p < 0.0001 ? "<0.0001" : p.toFixed(4)))
                          .join(", ")}
                      </td>
                    </>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
        {runs.map(({ id, name, coverage }) => (
          <Incomplete key={id} name={name} coverage={coverage} />
        ))}
        {parameters.match !== "index" && pairs.some(({ kept_apart }) => kept_apart > 0) && (
          <p className="notice">
            Tasks with the same index but different inputs are not compared. If only the prompt changed,{" "}
            <button type="button" onClick={() => go({ parameters: { match: "index" } })}>
              match tasks by index
            </button>
          </p>
        )}
        {pairs.map((pair) => (
          <p key={pair.with} className="dim">
            <bdi>{pair.with}</bdi>: {countLabel(pair.common, "common task")}, matched by {pair.matched_by}
            {pair.matched_content && ` and ${pair.matched_content}`}; {pair.only_before} only in the baseline,{" "}
            {pair.only_after} only in this run
            {pair.kept_apart > 0 && `, ${pair.kept_apart} with the same index but different content`}.
          </p>
        ))}
      </Scrolls>
      <fieldset className="chips" aria-label="Changes">
        <Chip
          isOn={parameters.change === undefined}
          onClick={() => go({ parameters: { change: undefined } })}
        >
          all {Object.values(comparison.changes).reduce((sum, count) => sum + count, 0)}
        </Chip>
        {CHANGES.map((change) => (
          <Chip
            key={change}
            isOn={parameters.change === change}
            onClick={() => go({ parameters: { change } })}
          >
            {change} {comparison.changes[change].toLocaleString("en")}
          </Chip>
        ))}
      </fieldset>
      {tasks.length === 0 && (
        <EmptyState
          title={parameters.change ? `No task is ${parameters.change}` : "No tasks to compare"}
          action={
            parameters.change && (
              <button type="button" onClick={() => go({ parameters: { change: undefined } })}>
                Show all tasks
              </button>
            )
          }
        >
          {parameters.change
            ? "The other changes have tasks; their counts are above."
            : "The runs have no rollouts with a task index and a reward."}
        </EmptyState>
      )}
      <Scrolls label="Tasks">
        <table className="numbers-table wide tasks-table">
          <TableHead
            names={[
              "task",
              ...runs.map(({ name }) => name),
              runs.length > 2 ? "largest change" : "change",
              "question",
            ]}
            isNumber={(place) => place > 0 && place <= runs.length + 1}
          />
          <tbody>
            {tasks.map((task) => (
              <tr key={task.indices.join()} className={task.change}>
                <th scope="row">
                  <a href={sideBySide(task, runs)} title="Read the runs side by side">
                    {task.task}
                  </a>
                </th>
                {task.means.map((mean, place) => {
                  const [index, run] = [task.indices[place], runs[place]];
                  return (
                    <td key={run?.id} className="number">
                      {mean === null || index === null || index === undefined || run === undefined ? (
                        "–"
                      ) : (
                        <a
                          className={`badge ${rewardMark(mean, 1)}`}
                          href={formatRoute({
                            run: run.id,
                            view: { name: "task", task: index },
                            parameters: {},
                          })}
                        >
                          {fixedText(mean, 3)}
                        </a>
                      )}
                    </td>
                  );
                })}
                <Difference value={task.difference} />
                <td className="question">
                  <Isolated className="cut" text={task.prompt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {comparison.total > tasks.length && (
          <p className="dim">
            The {tasks.length} largest changes of {comparison.total} are shown.
          </p>
        )}
      </Scrolls>
      {differentPrompts && (
        <section aria-label="Prompts">
          <h2>System prompt</h2>
          <TextDiff before={prompts[0] ?? ""} after={prompts.find((prompt) => prompt !== prompts[0]) ?? ""} />
        </section>
      )}
      <Scrolls label="Config">
        <h2>Config</h2>
        {config.length === 0 ? (
          <p className="note">
            The configs of these runs are equal, or the runs have no manifest (<code>_manifest.json</code>).
          </p>
        ) : (
          <table className="numbers-table wide config-diff">
            <TableHead names={["key", ...runs.map(({ name }) => name)]} />
            <tbody>
              {config.map(({ path, values }) => (
                <tr key={path}>
                  <th scope="row">
                    <code>{path}</code>
                  </th>
                  {values.map((value, place) => (
                    <td key={runs[place]?.id}>
                      {value === null ? <span className="dim">not set</span> : <bdi>{value}</bdi>}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Scrolls>
    </>
  );
}

/** The page of a task with columns of all runs that have it. */
function sideBySide({ indices }: ComparedTask, runs: CompareAnswer["runs"]): string {
  const [first, ...others] = runs.flatMap(({ id }, place) => {
    const task = indices[place];
    return task == null ? [] : [{ id, task }];
  });
  return formatRoute({
    run: first?.id ?? null,
    view: { name: "task", task: first?.task ?? 0 },
    parameters: { with: others.map(({ id, task }) => `${encodeURIComponent(id)}:${task}`).join(",") },
  });
}

function Difference({ value }: { value: number | null }) {
  if (value === null) return <td className="number dim">missing</td>;
  if (value === 0) return <td className="number dim">unchanged</td>;
  return value > 0 ? (
    <td className="number better">▲ +{fixedText(value, 3)}</td>
  ) : (
    <td className="number worse">▼ {fixedText(value, 3)}</td>
  );
}

/** A difference counts as better or worse only when its interval does not contain 0. */
function signOf(difference: { low: number | null; high: number | null } | null): string {
  if (difference === null || difference.low === null || difference.high === null) return "";
  return difference.low > 0 ? "better" : difference.high < 0 ? "worse" : "";
}

function Incomplete({ name, coverage }: Pick<CompareAnswer["runs"][number], "name" | "coverage">) {
  const { ok, expected, failed, masked, missing } = coverage;
  if (ok === expected) return null;
  return (
    <p className="notice">
      <bdi>{name}</bdi> is incomplete: {failed} failed, {masked} masked, {missing} missing of{" "}
      {countLabel(expected, "rollout")}.
    </p>
  );
}

import type { Overview } from "../../api-types.ts";
import { countText, dollarText, estimateText, secondsText, shareText, shortCount } from "../shared/format.ts";
import { Scrolls } from "../shared/scrolls.tsx";
import { Plain } from "../text/plain.tsx";

/** A row for each agent with its environment. */
export function Groups({
  groups,
  onChoose,
}: {
  groups: Overview["groups"];
  onChoose: (agent: string) => void;
}) {
  return (
    <Scrolls label="Environments and agents">
      <h2>Environments and agents</h2>
      <table className="numbers-table wide">
        <thead>
          <tr>
            <th scope="col">environment</th>
            <th scope="col">agent</th>
            <th scope="col">tasks</th>
            <th scope="col">rollouts</th>
            <th scope="col">failed attempts</th>
            <th scope="col">reward, 95 % interval</th>
            <th scope="col">pass@1</th>
            <th scope="col">output tokens</th>
            <th scope="col">cost</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={`${group.environment}:${group.agent}`}>
              <td>{group.environment ?? "–"}</td>
              <td>
                {group.agent === null ? (
                  "(no agent)"
                ) : (
                  <button type="button" className="link" onClick={() => onChoose(group.agent ?? "")}>
                    <Plain text={group.agent} />
                  </button>
                )}
              </td>
              <td>{group.tasks.toLocaleString("en")}</td>
              <td>{group.rollouts.toLocaleString("en")}</td>
              <td>{group.failed.toLocaleString("en")}</td>
              <td>{estimateText(group.reward)}</td>
              <td>{shareText(group.pass_1)}</td>
              <td>{shortCount(group.output_tokens)}</td>
              <td>{dollarText(group.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolls>
  );
}

/** Classes of failures, most frequent first, with the cumulative share of all failed attempts. */
export function Failures({
  failures,
  onChoose,
}: {
  failures: Overview["failures"];
  onChoose: (name: string) => void;
}) {
  const all = failures.reduce((sum, { attempts }) => sum + attempts, 0);
  let sum = 0;
  return (
    <section aria-label="Failures">
      <h2>Failed attempts</h2>
      {failures.length === 0 && <p className="note">No attempt at a rollout failed.</p>}
      <ul className="pareto">
        {failures.map(({ class: name, attempts, lost, message }) => {
          sum += attempts;
          return (
            <li key={name}>
              <button type="button" onClick={() => onChoose(name)} title={message ?? ""}>
                <span
                  className="pareto-bar"
                  style={{ width: `${(100 * attempts) / (failures[0]?.attempts || 1)}%` }}
                />
                <bdi className="pareto-name">
                  <Plain text={name} />
                </bdi>
                <span className="pareto-count">
                  {countText(attempts, "attempt")} · {countText(lost, "rollout")} failed ·{" "}
                  <span title="Share of all failed attempts, including the classes above">
                    {Math.round((100 * sum) / all)} % cumulative
                  </span>
                </span>
              </button>
              {message && (
                <p className="dim cut">
                  <Plain text={message} />
                </p>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The slowest rollouts; by tokens if times are unknown. */
export function Slowest({
  slowest,
  addressOf,
}: {
  slowest: Overview["slowest"];
  addressOf: (row: Overview["slowest"][number]) => string;
}) {
  const timed = slowest.some(({ seconds }) => seconds !== null);
  return (
    <section aria-label="Slowest rollouts">
      <h2>{timed ? "Slowest rollouts" : "Longest rollouts"}</h2>
      {slowest.length === 0 && <p className="note">No rollout has a duration or a token count.</p>}
      {slowest.length > 0 && (
        <table className="numbers-table">
          <thead>
            <tr>
              <th scope="col">rollout</th>
              {timed && <th scope="col">duration</th>}
              <th scope="col">output tokens</th>
            </tr>
          </thead>
          <tbody>
            {slowest.map((row) => (
              <tr key={`${row.source}:${row.line}`}>
                <th scope="row">
                  <a href={addressOf(row)}>
                    {row.task === null ? `Row ${row.line}` : `Task ${row.task} · ${row.rollout}`}
                  </a>
                </th>
                {timed && <td>{secondsText(row.seconds)}</td>}
                <td>{shortCount(row.tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

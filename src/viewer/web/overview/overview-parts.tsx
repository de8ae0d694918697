import type { Overview } from "../../api-types.ts";
import { Scrolls, TableHead } from "../shared/elements.tsx";
import {
  countLabel,
  dollarText,
  estimateLabel,
  secondsText,
  shareText,
  shortCount,
} from "../shared/format.ts";
import { viewOfRow } from "../shared/route.ts";
import { addressOf } from "../shared/use-route.ts";
import { Isolated, Plain } from "../text/plain.tsx";

const PARTS = [
  ["ok", "completed"],
  ["masked", "masked"],
  ["failed", "failed"],
  ["running", "running"],
  ["missing", "missing"],
] as const;

/** How many of the requested rollouts completed, failed, run or are missing. */
export function CoverageLine({ coverage }: { coverage: Overview["coverage"] }) {
  const lostAddress = addressOf({ view: { name: "rollouts" }, parameters: { q: "is:lost" } });
  const running = Math.min(coverage.running, coverage.missing);
  const counts = { ...coverage, running, missing: coverage.missing - running };
  return (
    <section className="coverage" aria-label="Coverage">
      <div
        className="coverage-bar"
        role="img"
        aria-label={`${coverage.ok + coverage.masked} of ${coverage.expected} rollouts completed`}
      >
        {PARTS.map(([part]) => (
          <span key={part} className={part} style={{ flexGrow: counts[part] }} />
        ))}
      </div>
      <p className="coverage-words">
        <b>
          {(counts.ok + counts.masked).toLocaleString("en")} of {counts.expected.toLocaleString("en")}{" "}
          rollouts
        </b>
        {PARTS.map(([part, name]) => {
          const words = `${counts[part].toLocaleString("en")} ${name}`;
          return (
            <span key={part} className={`key ${part}`}>
              {part === "failed" && counts.failed > 0 ? <a href={lostAddress}>{words}</a> : words}
            </span>
          );
        })}
      </p>
    </section>
  );
}

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
        <TableHead
          names={[
            "environment",
            "agent",
            "tasks",
            "rollouts",
            "failed attempts",
            "reward, 95 % interval",
            "pass@1",
            "output tokens",
            "cost",
          ]}
        />
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
              <td>{estimateLabel(group.reward)}</td>
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
                <Isolated className="pareto-name" text={name} />
                <span className="pareto-count">
                  {countLabel(attempts, "attempt")} · {countLabel(lost, "rollout")} failed ·{" "}
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
export function Slowest({ slowest }: { slowest: Overview["slowest"] }) {
  const timed = slowest.some(({ seconds }) => seconds !== null);
  return (
    <section aria-label="Slowest rollouts">
      <h2>{timed ? "Slowest rollouts" : "Longest rollouts"}</h2>
      {slowest.length === 0 && <p className="note">No rollout has a duration or a token count.</p>}
      {slowest.length > 0 && (
        <table className="numbers-table">
          <TableHead
            names={timed ? ["rollout", "duration", "output tokens"] : ["rollout", "output tokens"]}
          />
          <tbody>
            {slowest.map((row) => (
              <tr key={`${row.source}:${row.line}`}>
                <th scope="row">
                  <a href={addressOf({ view: viewOfRow(row) })}>
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

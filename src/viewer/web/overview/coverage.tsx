import type { Overview } from "../../api-types.ts";
import { addressOf } from "../shared/use-route.ts";

const PARTS = [
  ["ok", "completed"],
  ["masked", "masked"],
  ["failed", "failed"],
  ["running", "running"],
  ["missing", "missing"],
] as const;

/** How many of the requested rollouts completed, failed, run or are missing. */
export function Coverage({ coverage }: { coverage: Overview["coverage"] }) {
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

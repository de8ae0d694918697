import type { Overview } from "../../api-types.ts";

const PARTS = [
  ["ok", "completed"],
  ["masked", "masked"],
  ["failed", "failed"],
  ["running", "running"],
  ["missing", "missing"],
] as const;

/** How many of the requested rollouts completed, failed, run or are missing. */
export function Coverage({ coverage }: { coverage: Overview["coverage"] }) {
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
        {PARTS.map(([part, name]) => (
          <span key={part} className={`key ${part}`}>
            {counts[part].toLocaleString("en")} {name}
          </span>
        ))}
      </p>
    </section>
  );
}

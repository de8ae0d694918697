import { fixedText } from "./format.ts";

interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

const DECIMALS = 3;

/** A value with its 95 % interval; with `sign`, a difference. */
export function Interval({ of: { value, low, high }, sign = false }: { of: Estimate; sign?: boolean }) {
  const text = (number: number) => `${sign && number > 0 ? "+" : ""}${fixedText(number, DECIMALS)}`;
  return (
    <span className="interval">
      <b>{text(value)}</b>{" "}
      {low !== null && high !== null && (
        <span className="dim">
          [{text(low)}, {text(high)}]
        </span>
      )}
    </span>
  );
}

/** The same as a mark and a band on a scale; the figures stand beside it. */
export function IntervalBar({ of, low, high }: { of: Estimate; low: number; high: number }) {
  const at = (value: number) => (100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low || 1);
  const [from, to] = [at(of.low ?? of.value), at(of.high ?? of.value)];
  return (
    <span className="interval-bar" aria-hidden="true">
      <span className="interval-band" style={{ left: `${from}%`, width: `${to - from}%` }} />
      <span className="interval-mark" style={{ left: `${at(of.value)}%` }} />
    </span>
  );
}

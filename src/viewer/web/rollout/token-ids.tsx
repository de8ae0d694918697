import { type ReactNode, useState } from "react";
import { Plain } from "../text/plain.tsx";

/** Number of tokens per page. */
const PAGE = 2000;

/** One token: its id or, if the provider sent it, its text. */
export interface ShownToken {
  text: string;
  logProb: number | undefined;
  /** Classes in addition to that of the log probability. */
  className: string;
  title: string;
}

/** A list of tokens, page by page. */
export function TokenList({
  title,
  className,
  count,
  tokenAt,
  mark,
}: {
  title: ReactNode;
  className: string;
  count: number;
  tokenAt: (place: number) => ShownToken;
  /** A token to show first. */
  mark?: number | undefined;
}) {
  const [from, setFrom] = useState(() => Math.floor(Math.min(mark ?? 0, count - 1) / PAGE) * PAGE);
  const to = Math.min(count, from + PAGE);
  return (
    <div className={`token-list ${className}`}>
      <p className="token-list-head">
        <b>{title}</b>
        {count > PAGE && (
          <>
            {" "}
            <button
              type="button"
              className="quiet"
              disabled={from === 0}
              onClick={() => setFrom(from - PAGE)}
            >
              Previous
            </button>
            <span className="dim">
              {(from + 1).toLocaleString("en")}–{to.toLocaleString("en")} of {count.toLocaleString("en")}
            </span>
            <button type="button" className="quiet" disabled={to === count} onClick={() => setFrom(to)}>
              Next
            </button>
          </>
        )}
      </p>
      <p className="token-ids">
        {Array.from({ length: to - from }, (_, offset) => from + offset).map((place) => {
          const { text, logProb, className: own, title: about } = tokenAt(place);
          return (
            <span
              key={place}
              className={`token ${own}${logProb === undefined ? "" : ` heat-${heat(logProb)}`}`}
              title={logProb === undefined ? about : `${about}, log probability ${logProb}`}
            >
              <Plain text={text} />
            </span>
          );
        })}
      </p>
    </div>
  );
}

/** 0 for a token that was certain, 5 for the least likely ones. */
export function heat(logProb: number): number {
  return Math.max(0, Math.min(5, Math.floor(-logProb * 1.5 + 0.85)));
}

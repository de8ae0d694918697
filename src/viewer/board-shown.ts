import type { Board, BoardTest } from "../records/door.ts";
import type { ShownBoard } from "./api-types.ts";

/** Listed tests of each kind; a board of 1,000 runs has thousands. */
const MAX_TESTS = 100;
/** Of numbers: more digits than the page shows, and a third of the bytes. */
const DIGITS = 6;

/** A board as its page shows it, small enough to be loaded at once. */
export function shownBoard(board: Board): ShownBoard {
  const significant = board.tests
    .filter((test) => test.significant)
    .sort(
      (a, b) => a.adjusted_p - b.adjusted_p || Math.abs(b.difference.value) - Math.abs(a.difference.value),
    );
  const listed = (kind: BoardTest["kind"]) => {
    const own = significant.filter((test) => test.kind === kind);
    return { significant: own.length, listed: own.slice(0, MAX_TESTS) };
  };
  const { tests, ...others } = board;
  return rounded({
    ...others,
    tests: tests.length,
    changes: listed("change"),
    differences: listed("models"),
  });
}

function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === "number" && !Number.isInteger(part) ? Number(part.toPrecision(DIGITS)) : part,
    ),
  ) as T;
}

import { useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import { SignButton } from "../shared/elements.tsx";
import { countLabel } from "../shared/format.ts";
import { useKeys } from "../shared/keyboard.ts";
import type { CutValues } from "./cut-values.tsx";

const CLOSED = "[data-holds-match]";
/** Maximum wait after a click. A text that is shown in pieces stays closed if its next piece also has a match. */
const OPENING_FRAMES = 30;
/** Requests for truncated values at the same time. */
const LOADED_TOGETHER = 8;
const MAX_OPENED = 1000;

const stops = (selector: string) => [
  ...document.querySelectorAll<HTMLElement>(`.rollout-pane :is(${selector})`),
];

/**
 * The number of matches of the search, and navigation between them. Closed elements with a match are opened. Truncated values are loaded
 * only on request, because captures contain the conversation many times.
 */
export function MatchJumps({ needles, cut }: { needles: readonly string[]; cut: CutValues }) {
  const [found, setFound] = useState({ marks: 0, closed: 0, at: -1 });
  const current = useRef<HTMLElement>(undefined);
  const isJumping = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted again when other words are marked
  useEffect(() => {
    const count = () => {
      const marks = stops("mark");
      const at = current.current === undefined ? -1 : marks.indexOf(current.current);
      const next = { marks: marks.length, closed: stops(CLOSED).length, at };
      setFound((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
    };
    const timer = window.setInterval(count, 300);
    count();
    return () => window.clearInterval(timer);
  }, [needles]);
  const jump = async (by: 1 | -1) => {
    if (isJumping.current) return;
    isJumping.current = true;
    try {
      const mark = await nextMark(current.current, by);
      if (mark === undefined) return;
      current.current?.classList.remove("current");
      mark.classList.add("current");
      mark.scrollIntoView({ block: "center" });
      current.current = mark;
    } finally {
      isJumping.current = false;
    }
  };
  useKeys({ ".": () => void jump(1), ",": () => void jump(-1) });
  const [problem, setProblem] = useState<string>();
  const [isLoading, setLoading] = useState(false);
  const unread = cut.values.filter(({ kind }) => kind !== "numbers");
  const loadAll = async () => {
    setLoading(true);
    try {
      for (let at = 0; at < unread.length; at += LOADED_TOGETHER)
        await Promise.all(unread.slice(at, at + LOADED_TOGETHER).map(cut.load));
    } catch (error) {
      setProblem(errorMessage(error));
    }
    setLoading(false);
  };
  const { marks, closed, at } = found;
  return (
    <span className="matches" role="status">
      {marks > 0
        ? `${at === -1 ? "" : `${at + 1} of `}${countLabel(marks, "match", "matches")}${closed > 0 ? ", more in closed parts" : ""}`
        : closed > 0
          ? "Matches in closed parts"
          : "No match in this rollout's text"}
      {unread.length > 0 && (
        <button type="button" className="link" disabled={isLoading} onClick={() => void loadAll()}>
          {isLoading ? "Loading…" : `search ${countLabel(unread.length, "cut value")} too`}
        </button>
      )}
      {problem !== undefined && <span className="problem">{problem}</span>}
      <SignButton label="Previous match" title="Previous match (,)" onClick={() => void jump(-1)}>
        ↑
      </SignButton>
      <SignButton label="Next match" title="Next match (.)" onClick={() => void jump(1)}>
        ↓
      </SignButton>
    </span>
  );
}

/** The next match in the page, after opening closed elements in between; wraps around at the end. */
async function nextMark(from: HTMLElement | undefined, by: 1 | -1): Promise<HTMLElement | undefined> {
  let start = from?.isConnected ? from : undefined;
  for (let opened = 0; opened < MAX_OPENED; opened++) {
    const all = stops(`mark, ${CLOSED}`);
    if (all.length === 0) return undefined;
    const at = start === undefined ? (by === 1 ? -1 : 0) : all.indexOf(start);
    const next = all[(at + by + all.length) % all.length];
    if (next === undefined) return undefined;
    openAround(next);
    if (next.tagName === "MARK") return next;
    next.click();
    await settled(next);
    // Opening may have rendered the page again.
    if (start?.isConnected === false) start = undefined;
  }
  return undefined;
}

/** A closed `<details>` hides its content. */
function openAround(element: Element): void {
  // A summary is visible when its details are closed.
  const inside = element.matches("summary") ? element.parentElement?.parentElement : element;
  for (let details = inside?.closest("details"); details; details = details.parentElement?.closest("details"))
    details.open = true;
}

/** Waits until the clicked element is open. */
async function settled(element: Element): Promise<void> {
  for (let frame = 0; frame < OPENING_FRAMES; frame++) {
    await new Promise(requestAnimationFrame);
    if (!element.isConnected || !element.matches(CLOSED)) return;
  }
}

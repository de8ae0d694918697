import { useEffect, useState } from "react";
import { useKeys } from "../shared/use-keys.ts";

/** How many places match the search, and jumps between them. */
export function MatchJumps({ needles }: { needles: readonly string[] }) {
  const [count, setCount] = useState(0);
  const [at, setAt] = useState(-1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: counted again when other words are marked
  useEffect(() => {
    const found = () => setCount(document.querySelectorAll(".rollout-pane mark").length);
    const timer = window.setInterval(found, 500);
    found();
    return () => window.clearInterval(timer);
  }, [needles]);
  const jump = (by: number) => {
    const marks = [...document.querySelectorAll(".rollout-pane mark")];
    if (marks.length === 0) return;
    const next = (at + by + marks.length) % marks.length;
    for (const mark of marks) mark.classList.remove("current");
    marks[next]?.classList.add("current");
    marks[next]?.scrollIntoView({ block: "center" });
    setAt(next);
  };
  useKeys({ ".": () => jump(1), ",": () => jump(-1) });
  return (
    <span className="matches">
      {count === 0 ? "no match in what is shown" : `${at === -1 ? "" : `${at + 1} of `}${count} matches`}
      <button
        type="button"
        className="quiet"
        onClick={() => jump(-1)}
        aria-label="Previous match"
        title="Previous match (,)"
      >
        ↑
      </button>
      <button
        type="button"
        className="quiet"
        onClick={() => jump(1)}
        aria-label="Next match"
        title="Next match (.)"
      >
        ↓
      </button>
    </span>
  );
}

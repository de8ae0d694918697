import { Plain } from "../text/plain.tsx";
import { lineDiff } from "./line-diff.ts";

/** Two texts line by line. */
export function TextDiff({ before, after }: { before: string; after: string }) {
  return (
    <pre className="text code">
      {lineDiff(before, after).map(({ kind, line }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text never change
        <span key={place} className={`diff-line ${kind === "same" ? "" : `diff-${kind}`}`}>
          {kind === "added" ? "+ " : kind === "removed" ? "- " : "  "}
          <Plain text={line} />
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

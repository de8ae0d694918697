import { Plain } from "../text/plain.tsx";

/** Texts with more lines are shown one after the other. */
const MAX_LINES = 1000;

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

interface DiffLine {
  kind: "same" | "added" | "removed";
  line: string;
}

/** The line diff of two texts by their longest common subsequence. */
function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.length > MAX_LINES || b.length > MAX_LINES)
    return [
      ...a.map((line): DiffLine => ({ kind: "removed", line })),
      ...b.map((line): DiffLine => ({ kind: "added", line })),
    ];
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i] === b[j]
          ? (longest[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", line: a[i++] ?? "" });
      j++;
    } else if (
      i < a.length &&
      (j >= b.length || (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0))
    )
      lines.push({ kind: "removed", line: a[i++] ?? "" });
    else lines.push({ kind: "added", line: b[j++] ?? "" });
  }
  return lines;
}

import { unifiedDiff } from "nemo-gym/python";

/** A search-and-replace block: a fence, the path, the text to find and its replacement. */
const BLOCK =
  /```[^\n]*?\n### ([^\n]*)\s*<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n*```/g;

export interface Edit {
  search: string;
  replace: string;
}

/** The part of an answer that contains the solution; undefined if the format requires tags and there are none. */
export function solutionOf(answer: string, relaxed: boolean): string | undefined {
  const afterThinking =
    answer.includes("<think>") && answer.includes("</think>")
      ? (answer.split("</think>").at(-1) ?? "")
      : answer;
  const tagged = /<solution>([\s\S]*?)<\/solution>/.exec(afterThinking)?.[1];
  return tagged ?? (relaxed ? afterThinking : undefined);
}

/** Edits by file, without duplicates. */
export function readEdits(solution: string): Map<string, Edit[]> {
  const byFile = new Map<string, Edit[]>();
  for (const [, file = "", search = "", replace = ""] of solution.matchAll(BLOCK)) {
    const edits = byFile.get(file) ?? [];
    if (!edits.some((edit) => edit.search === search && edit.replace === replace))
      edits.push({ search, replace });
    byFile.set(file, edits);
  }
  return byFile;
}

/** The text after all edits; undefined if an edit changes nothing or does not apply. All positions are found before the first change. */
function applyEdits(text: string, edits: readonly Edit[]): string | undefined {
  const places: { start: number; edit: Edit }[] = [];
  for (const edit of edits) {
    const start = `\n${text}`.indexOf(`\n${edit.search}`);
    if (start < 0 || edit.search === edit.replace) return undefined;
    places.push({ start, edit });
  }
  places.sort((one, two) => two.start - one.start);
  return places.reduce(
    (changed, { start, edit }) =>
      changed.slice(0, start) + edit.replace + changed.slice(start + edit.search.length),
    text,
  );
}

/** The patch described by an answer; undefined if it describes none that applies. */
export function patchOf(
  edits: ReadonlyMap<string, readonly Edit[]>,
  files: Readonly<Record<string, unknown>>,
  withoutRepositoryName: boolean,
): string | undefined {
  const patches: string[] = [];
  for (const [file, own] of edits) {
    const given = Object.hasOwn(files, file) ? files[file] : "";
    const before = typeof given === "string" ? given : "";
    const after = applyEdits(before, own);
    if (after === undefined) return undefined;
    const path = withoutRepositoryName ? file.split("/").slice(1).join("/") : file;
    const hunks = unifiedDiff(linesOf(before), linesOf(after));
    if (hunks.length > 0)
      patches.push(`diff --git a/${path} b/${path}\n--- old\n+++ new\n${hunks.join("\n")}\n`);
  }
  return patches.length === 0 ? undefined : patches.join("\n");
}

/** The last Python block of an answer as a patch that adds a file; undefined if there is no block. */
export function reproductionPatch(answer: string): string | undefined {
  const blocks = Array.from(answer.matchAll(/```python\n([\s\S]*?)\n```/g), ([, code = ""]) => code);
  const scripts = Array.from(answer.matchAll(/^-{3,}\n(#![\s\S]*?)\n-{3,}$/gm), ([, code = ""]) => code);
  const found = blocks.length > 0 ? blocks : scripts;
  const code = found.at(-1);
  if (code === undefined) return undefined;
  const name = `reproduce_bug_${found.length}.py`;
  const lines = code.split("\n");
  return [
    `diff --git a/${name} b/${name}`,
    "new file mode 100644",
    "index 0000000..e69de29",
    "--- /dev/null",
    `+++ b/${name}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    "",
  ].join("\n");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

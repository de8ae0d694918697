import { access, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";

const root = new URL("../", import.meta.url);
const read = (path: string) => readFile(new URL(path, root), "utf8");

/** Fenced blocks of a page whose first line names the file they are taken from. */
function quotedFiles(page: string): { path: string; code: string }[] {
  return [...page.matchAll(/^```(?:ts|yaml)\n(?:\/\/|#) (examples\/\S+)\n([\s\S]*?)\n```$/gm)].map(
    ([, path = "", code = ""]) => ({ path, code }),
  );
}

describe.each([
  "docs/guide/writing-an-environment.md",
  "docs/guide/agents.md",
  "docs/guide/bring-your-own-agent.md",
  "docs/guide/serving-an-agent.md",
  "docs/guide/multi-agent.md",
  "docs/guide/bridges.md",
  "docs/guide/judges.md",
  "docs/guide/sandbox.md",
  "docs/guide/typescript-api.md",
  "docs/guide/training.md",
])("%s", (page) => {
  it("shows the same code as the example files", async () => {
    const text = await read(page);
    const quoted = quotedFiles(text);
    // Every TypeScript block is one of the files that are compiled and tested. Blocks below the bold name of a file are the
    // reader's own; another test writes and runs them.
    const blocks = text.replace(/^\*\*`[^`]+`\*\*\n\n```ts$/gm, "").split("```ts\n").length - 1;
    expect(quoted.filter(({ path }) => path.endsWith(".ts"))).toHaveLength(blocks);
    for (const { path, code } of quoted) expect((await read(path)).trim(), path).toBe(code);
  });

  it("links to files that exist", async () => {
    const text = await read(page);
    for (const [, target = ""] of text.matchAll(/\]\(([^)#]+)\)/g)) {
      await expect(access(new URL(target, new URL(page, root))), target).resolves.toBeUndefined();
    }
  });
});

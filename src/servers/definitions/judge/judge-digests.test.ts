import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { judgeDigests } from "./judge-digests.ts";
import { VERDICT_READERS_VERSION } from "./judge-verdict.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "judged-"));
  await write("server/app.ts", 'import { read } from "../library/read.ts";\nexport default read;\n');
  await write("server/app.test.ts", "// test\n");
  await write("server/prompt.txt", "Is it right?\n");
  await write("server/README.md", "About\n");
  await write("server/data/example.jsonl", "{}\n");
  await write("library/read.ts", 'import { more } from "./more.ts";\nexport const read = more;\n');
  await write("library/more.ts", "export const more = 1;\n");
  await write("elsewhere/other.yaml", "user: hm\n");
});
afterEach(() => rm(root, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(root, file)), { recursive: true });
  await writeFile(path.join(root, file), text);
}

const config = {
  judge_model_server: "a",
  judge_votes: 3,
  judge_prompt_path: "elsewhere/other.yaml",
  seats: 1,
};
const identity = (values: object = config) =>
  judgeDigests({
    directory: path.join(root, "server"),
    config: values,
    findFile: (file) => path.join(root, file),
  });

describe("the identity of a judge", () => {
  it.each([
    ["server/prompt.txt", "prompt"],
    ["elsewhere/other.yaml", "prompt"],
    ["server/app.ts", "parser"],
    ["library/read.ts", "parser"],
    ["library/more.ts", "parser"],
    ["server/app.test.ts", "none"],
    ["server/README.md", "none"],
    ["server/data/example.jsonl", "none"],
  ] as const)("depends on %s: %s", async (file, part) => {
    const before = await identity();
    await write(file, `${await readFile(path.join(root, file), "utf8")} \n`);
    const after = await identity();
    expect(before).toBeDefined();
    expect([before?.prompt !== after?.prompt, before?.parser !== after?.parser]).toEqual([
      part === "prompt",
      part === "parser",
    ]);
  });

  it("depends on what the config says about the judge, but not on who serves it", async () => {
    const before = await identity();
    expect(
      await identity({ ...config, judge_model_server: "b", judge_timeout_seconds: 5, seats: 2 }),
    ).toEqual(before);
    expect((await identity({ ...config, judge_votes: 5 }))?.prompt).not.toBe(before?.prompt);
  });

  it("is unknown if a file cannot be read", async () => {
    expect(await identity({ ...config, judge_prompt_path: "elsewhere/none.yaml" })).toBeUndefined();
  });
});

it("has another version where a function that reads verdicts has changed", async () => {
  const source = await readFile(new URL("./judge-verdict.ts", import.meta.url), "utf8");
  const code = source.slice(source.indexOf("/** The label that occurs first."));
  const digest = createHash("sha256").update(code).digest("hex").slice(0, 16);
  // If this fails: increment VERDICT_READERS_VERSION unless every text is still read the same way, and correct the digest.
  expect([VERDICT_READERS_VERSION, digest]).toEqual([1, "d7bfb38ee0c0c5cb"]);
});

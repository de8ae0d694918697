import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderDataset } from "./render.ts";

let directory: string;
const at = (name: string) => path.join(directory, name);

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-render-"));
  await writeFile(at("p.yaml"), "system: 'You {{ok}}'\nuser: 'Q: {question} {score}'\n");
});

afterEach(() => rm(directory, { recursive: true, force: true }));

async function render(rows: string): Promise<number> {
  await writeFile(at("in.jsonl"), rows);
  return renderDataset({ input: at("in.jsonl"), promptConfig: at("p.yaml"), output: at("deep/out.jsonl") });
}

describe("renderDataset", () => {
  it("writes the messages and the path of the config, and keeps the rest", async () => {
    const count = await render(
      '{"9": 1, "question": "é", "score": 1.0}\n{"question": "b", "score": [null], "responses_create_params": {"top_p": 1.0}}\n',
    );
    expect(count).toBe(2);
    const used = `"prompt_config_used": ${JSON.stringify(at("p.yaml"))}}\n`;
    const system = '{"role": "system", "content": "You {ok}"}';
    expect(await readFile(at("deep/out.jsonl"), "utf8")).toBe(
      `{"9": 1, "question": "\\u00e9", "score": 1.0, "responses_create_params": {"input": [${system}, {"role": "user", "content": "Q: \\u00e9 1.0"}]}, ${used}` +
        `{"question": "b", "score": [null], "responses_create_params": {"top_p": 1.0, "input": [${system}, {"role": "user", "content": "Q: b [None]"}]}, ${used}`,
    );
  });

  it("lists all rows with an input and writes nothing", async () => {
    const full = '{"question": "a", "score": 1, "responses_create_params": {"input": "x"}}\n';
    await expect(render(`${full}${full}{"question": "a", "score": 1}\n${full}`)).rejects.toMatchObject({
      code: "DATASET_PROMPT_CONFLICT",
      message: expect.stringContaining("would fill: lines 1-2, 4."),
    });
    expect(existsSync(at("deep"))).toBe(false);
  });

  it("names the output that cannot be written and not the temporary file", async () => {
    const name = "x".repeat(254);
    await writeFile(at("in.jsonl"), "");
    const rendering = renderDataset({ input: at("in.jsonl"), promptConfig: at("p.yaml"), output: at(name) });
    await expect(rendering).rejects.toMatchObject({ code: "ENAMETOOLONG", path: at(name) });
  });

  it("names file and line of a row that cannot be rendered", async () => {
    await expect(render('{"question": "a"}\n')).rejects.toThrow(
      /in\.jsonl:1: The template needs the field 'score'; the row has: question\./,
    );
    await expect(render('{"question": "a", "score": 1}\n{oops\n')).rejects.toThrow(/in\.jsonl:2: /);
    expect(existsSync(at("deep/out.jsonl"))).toBe(false);
  });
});

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { runPrepare } from "nemo-gym/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepare as prepareAime24 } from "./aime24/prepare.ts";
import { prepare as prepareAime25 } from "./aime25/prepare.ts";
import { prepare as prepareGsm8k } from "./gsm8k/prepare.ts";
import { prepare as prepareIfeval } from "./ifeval/prepare.ts";
import { prepare as prepareMmlu } from "./mmlu/prepare.ts";
import { SUBJECTS } from "./mmlu/subjects.ts";
import { prepare as prepareSwebench } from "./swebench_verified/prepare.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-benchmarks-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, content: string | Uint8Array): string {
  const file = path.join(base, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

type Prepare = Parameters<typeof runPrepare<{ source?: string; split?: string }>>[0];

const prepareInto = (outputDirectory: string, name: string, prepare: Prepare, args = {}) =>
  runPrepare(prepare, { script: new URL(`${name}/prepare.ts`, import.meta.url), outputDirectory, args });

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

describe("included rows of the benchmarks", () => {
  it.each([
    ["gsm8k", prepareGsm8k, 10],
    ["aime24", prepareAime24, 5],
    ["aime25", prepareAime25, 5],
    ["mmlu", prepareMmlu, 10],
    ["ifeval", prepareIfeval, 8],
    ["swebench_verified", prepareSwebench, 5],
  ] as const)("%s", async (name, prepare, count) => {
    const { rows, said } = await prepareInto(base, name, prepare);
    expect(rows).toHaveLength(count);
    expect(said).toEqual([expect.stringContaining("using the included rows")]);
  });
});

describe("gsm8k", () => {
  it("converts the file of the authors", async () => {
    const source = write(
      "test.jsonl",
      lines([
        {
          question: "How much?",
          answer: "First 3*4=<<3*4=12>>12.\nThen 1,000+12=<<1000+12=1012>>1,012.\n#### 1,012",
        },
      ]),
    );
    const { rows } = await prepareInto(base, "gsm8k", prepareGsm8k, { source });
    expect(rows).toEqual([
      {
        question: "How much?",
        expected_answer: "1012",
        reference_solution: "First 3*4=12.\nThen 1,000+12=1,012.",
      },
    ]);
  });

  it("names the row that is not a row of GSM8K", async () => {
    const source = write("test.jsonl", lines([{ question: "a", answer: "b" }]));
    await expect(prepareInto(base, "gsm8k", prepareGsm8k, { source })).rejects.toThrow("row 1 has no '####'");
    const other = write("other.jsonl", lines([{ prompt: "a" }]));
    await expect(prepareInto(base, "gsm8k", prepareGsm8k, { source: other })).rejects.toThrow(
      "row 1 needs the texts",
    );
  });

  it("reports a source that does not exist", async () => {
    await expect(prepareInto(base, "gsm8k", prepareGsm8k, { source: "gone.jsonl" })).rejects.toThrow(
      "names a file that does not exist",
    );
    await expect(prepareInto(base, "gsm8k", prepareGsm8k, { source: "folder" })).rejects.toThrow(
      "does not exist",
    );
  });
});

describe("aime", () => {
  it("reads the fields of both datasets and removes leading zeros", async () => {
    const source = write(
      "rows.json",
      JSON.stringify([
        { problem: "a", answer: "073" },
        { question: "b", answer: 5 },
      ]),
    );
    const { rows } = await prepareInto(base, "aime24", prepareAime24, { source });
    expect(rows).toEqual([
      { question: "a", expected_answer: "73" },
      { question: "b", expected_answer: "5" },
    ]);
  });

  it("refuses answers that are not integers from 0 to 999", async () => {
    const source = write("rows.jsonl", lines([{ problem: "a", answer: "1.5" }]));
    await expect(prepareInto(base, "aime25", prepareAime25, { source })).rejects.toThrow(
      "an 'answer' from 0 to 999",
    );
  });
});

describe("ifeval", () => {
  it("converts rows of both forms and removes arguments that do not apply", async () => {
    const row = {
      key: 1000,
      prompt: "Write.",
      instruction_id_list: ["punctuation:no_comma", "keywords:frequency"],
      kwargs: [{ num_words: null }, { num_words: null, keyword: "tea", frequency: 2 }],
    };
    const { rows } = await prepareInto(base, "ifeval", prepareIfeval, {
      source: write("a.jsonl", lines([row])),
    });
    expect(rows).toEqual([
      {
        id: 0,
        responses_create_params: {
          input: [{ role: "user", content: "Write." }],
          tools: [],
          parallel_tool_calls: false,
        },
        verifier_metadata: {
          prompt: "Write.",
          instruction_id_list: row.instruction_id_list,
          kwargs: [{}, { keyword: "tea", frequency: 2 }],
          grading_mode: "binary",
        },
      },
    ]);
    const uneven = write("b.jsonl", lines([{ ...row, kwargs: [{}] }]));
    await expect(prepareInto(base, "ifeval", prepareIfeval, { source: uneven })).rejects.toThrow(
      "2 instructions, but 1",
    );
  });
});

describe("mmlu", () => {
  const table = '"Which, of these?",one,"two ""2""",three,four,B\nNext?,a,b,c,d,D\n';
  const expected = [
    {
      question: "Which, of these?",
      problem: 'Which, of these?\n\nA. one\nB. two "2"\nC. three\nD. four',
      options: [{ A: "one" }, { B: 'two "2"' }, { C: "three" }, { D: "four" }],
      expected_answer: "B",
      subset_for_metrics: "math",
      subject: "abstract_algebra",
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    },
    expect.objectContaining({ question: "Next?", expected_answer: "D" }),
  ];

  it("knows 57 subjects", () => expect(SUBJECTS).toHaveLength(57));

  it("converts a table, a folder of tables and the archive of the authors to the same rows", async () => {
    const source = write("data/test/abstract_algebra_test.csv", table);
    write("data/dev/abstract_algebra_dev.csv", "x,a,b,c,d,A\n");
    const run = async (from: string) => (await prepareInto(base, "mmlu", prepareMmlu, { source: from })).rows;
    expect(await run(source)).toEqual(expected);
    expect(await run(path.join(base, "data"))).toEqual(expected);
    const archive = write(
      "data.tar",
      tar({
        "data/README.txt": "hello",
        "data/test/abstract_algebra_test.csv": table,
        "data/val/anatomy_val.csv": "x,a,b,c,d,A\n",
      }),
    );
    expect(await run(archive)).toEqual(expected);
    const { rows } = await prepareInto(base, "mmlu", prepareMmlu, { source: archive, split: "val" });
    expect(rows).toEqual([expect.objectContaining({ subject: "anatomy" })]);
  });

  it("converts rows from the hub", async () => {
    const row = {
      question: " Which, of these? ",
      subject: "abstract_algebra",
      choices: ["one", 'two "2"', "three", "four"],
      answer: 1,
    };
    const { rows } = await prepareInto(base, "mmlu", prepareMmlu, { source: write("a.jsonl", lines([row])) });
    expect(rows).toEqual(expected.slice(0, 1));
  });

  it.each([
    ["a.jsonl", lines([{ question: "a" }]), "row 1 needs 'question'"],
    [
      "a.jsonl",
      lines([{ question: "a", subject: "alchemy", choices: ["1", "2", "3", "4"], answer: 0 }]),
      "no subject 'alchemy'",
    ],
    ["anatomy_test.csv", "only,three,columns\n", "row 1 does not have six columns"],
    ["anatomy_test.csv", "q,a,b,c,d,E\n", "has the answer 'E'"],
    ["bad.tar", "x".repeat(2000), "is no tar archive"],
  ])("reports the problem of %s", async (name, content, message) => {
    await expect(prepareInto(base, "mmlu", prepareMmlu, { source: write(name, content) })).rejects.toThrow(
      message,
    );
  });
});

/** A tar archive in the format of GNU tar. */
function tar(files: Record<string, string>): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("0", 156);
    header.write("ustar\0", 257);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

describe("prepared files", () => {
  it("are JSON lines in the format of Python", async () => {
    const { file } = await prepareInto(base, "gsm8k", prepareGsm8k);
    expect(readFileSync(file, "utf8").split("\n")[0]).toMatch(
      /^\{"question": "A bakery .*", "expected_answer": "24", /,
    );
  });
});

describe("swebench_verified", () => {
  it("keeps the fields of instances, and names a row that is not an instance", async () => {
    const instance = { instance_id: "a__b-1", problem_statement: "p", FAIL_TO_PASS: '["t"]', version: "1.0" };
    const source = write("test.jsonl", lines([instance]));
    const { rows } = await prepareInto(base, "swebench_verified", prepareSwebench, { source });
    expect(rows).toEqual([
      { ...instance, subset: "verified", split: "test", responses_create_params: { input: [] } },
    ]);
    const other = write("other.jsonl", lines([{ problem_statement: "p" }]));
    await expect(prepareInto(base, "swebench_verified", prepareSwebench, { source: other })).rejects.toThrow(
      /not a SWE instance: instance_id/,
    );
  });
});

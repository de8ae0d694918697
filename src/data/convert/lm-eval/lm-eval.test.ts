import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConvertOptions, openConversion } from "../convert.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-lm-eval-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const put = (name: string, text: string) => writeFile(path.join(directory, name), text);

async function convert(task: string, documents: object[], options: Partial<ConvertOptions> = {}) {
  await put("task.yaml", task);
  await put("documents.jsonl", documents.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const { report, rows } = await openConversion({
    input: "task.yaml",
    documents: "documents.jsonl",
    examples: "documents.jsonl",
    access: {
      hub: {},
      directory: path.join(directory, "sources"),
      roots: [directory],
      signal: new AbortController().signal,
      log: () => {},
    },
    ...options,
  });
  const found = [];
  for await (const { row } of rows) found.push(row as Record<string, never>);
  return { report, rows: found };
}

const arc = `
task: made_up_choice
dataset_path: acme/choice
output_type: multiple_choice
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{choices.label.index(key)}}"
doc_to_choice: "{{choices.text}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
`;
const document = { question: "Which?", choices: { text: ["an 'x'", "y"], label: ["A", "B"] }, key: "B" };

describe("tasks of lm-eval", () => {
  it("makes a row of each document", async () => {
    const { report, rows } = await convert(arc, [document, { ...document, key: "Z" }]);
    expect(rows).toEqual([
      {
        responses_create_params: { input: [{ role: "user", content: "Question: Which?\nAnswer:" }] },
        output_type: "multiple_choice",
        context: "Question: Which?\nAnswer:",
        choices: ["an 'x'", "y"],
        continuations: [" an 'x'", " y"],
        gold: 1,
        expected_answer: "y",
        task: "made_up_choice",
        document_index: 0,
        metrics: ["acc", "acc_norm"],
        document,
      },
    ]);
    expect(report.problems).toEqual([{ where: "documents.jsonl:2", reason: "Z is not in the list" }]);
  });

  it("merges included files and keeps blanks as Jinja does", async () => {
    await put(
      "_base.yaml",
      "test_split: test\ndoc_to_text: base\ndoc_to_target: answer\ntarget_delimiter: ''\n",
    );
    const { rows } = await convert(
      [
        "include: _base.yaml",
        "task: included",
        "output_type: generate_until",
        'generation_kwargs: {until: ["\\n"], max_gen_toks: 64}',
        "doc_to_text: |",
        "  {% set n = parts|length %}{% for a, b in parts if a %}",
        "  {{ loop.index }}/{{ n }} {{ a|trim }}={{ b.split('-', 1)[1] }}",
        "  {% endfor %}",
        "  Q: {{question.strip()}}",
        "",
      ].join("\n"),
      [
        {
          question: " why ",
          answer: "z",
          parts: [
            [" a ", "1-2-3"],
            ["", "x"],
          ],
        },
      ],
    );
    expect(rows[0]?.["responses_create_params"]).toEqual({
      input: [{ role: "user", content: "\n1/2 a=2-3\n\nQ: why\n" }],
      temperature: 0,
      max_output_tokens: 64,
    });
    expect(rows[0]).toMatchObject({ expected_answer: "z", until: ["\n"] });
  });

  it("puts examples and a description in front", async () => {
    const { rows } = await convert(
      `${arc}\ndescription: "About it.\\n\\n"\nfewshot_split: train\nfewshot_config: {sampler: first_n}\nnum_fewshot: 1\n`,
      [{ ...document, question: "First?" }, document],
    );
    expect(rows[1]).toMatchObject({
      context: "About it.\n\nQuestion: First?\nAnswer: y\n\nQuestion: Which?\nAnswer:",
    });
  });

  it("makes a context for each choice where the question has the choices", async () => {
    const { rows } = await convert(
      'task: two\noutput_type: multiple_choice\ntest_split: test\ndoc_to_text: label\ndoc_to_target: end\ndoc_to_choice: "{{[a, b]}}"\n',
      [{ a: "The cat", b: "The dog", end: "barks.", label: 1 }],
    );
    expect(rows[0]).toMatchObject({
      contexts: ["The cat", "The dog"],
      continuations: [" barks.", " barks."],
      gold: 1,
    });
  });

  it("says which Python code is needed, and which is left out", async () => {
    const process = `${arc}process_docs: !function utils.process\n`;
    await expect(convert(process, [document])).rejects.toMatchObject({
      code: "DATASET_LM_EVAL",
      message: expect.stringContaining("process_docs: utils.process"),
    });
    expect((await convert(process, [document], { processed: true })).rows).toHaveLength(1);
    await expect(convert("task: t\ndoc_to_text: !function utils.text\n", [document])).rejects.toThrow(
      "doc_to_text: utils.text",
    );
    const { report } = await convert(`${arc}process_results: !function utils.score\n`, [document]);
    expect(report.notices).toEqual([expect.stringContaining("process_results: utils.score")]);
  });

  it("explains files that are not one task", async () => {
    await expect(convert("group: g\ntask: [a, b]\n", [document])).rejects.toThrow("a group (g) of 2 tasks");
    await expect(convert(arc.replace("multiple_choice", "multiple_chioce"), [document])).rejects.toThrow(
      "did you mean 'multiple_choice'?",
    );
    await expect(convert(arc.replace("{{question}}", "{{question"), [document])).rejects.toThrow(
      "doc_to_text",
    );
    await expect(convert("include: none.yaml\n", [document])).rejects.toThrow("which does not exist");
    await expect(convert("include: task.yaml\n", [document])).rejects.toThrow("includes itself");
    await expect(convert("task: [\n", [document])).rejects.toThrow("task.yaml:");
    const { report } = await convert(arc.replace("{{question}}", "{{qestion}}"), [document]);
    expect(report.problems[0]?.reason).toContain("did you mean 'question'?");
  });
});

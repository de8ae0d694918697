import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { preprocess } from "./cells.ts";
import { isoDate, readDate } from "./dates.ts";
import { metricScore } from "./metrics.ts";
import { goldTable, readTable } from "./table.ts";

const row = {
  ...{ instance_id: "1", query: "Which cities?", language: "en" },
  evaluation: {
    required: ["name", "size"],
    unique_columns: ["name"],
    eval_pipeline: {
      name: { preprocess: ["norm_str"], metric: ["exact_match"] },
      size: { preprocess: ["extract_number"], metric: ["number_near"], criterion: 0.1 },
    },
  },
  gold_answer: [
    { Name: "Oslo", Size: 700 },
    { Name: "Bergen", Size: 290 },
  ],
};
const table = (...lines: string[]) =>
  `\`\`\`markdown\n| Name | Size |\n| --- | --- |\n${lines.join("\n")}\n\`\`\``;
const json = (value: object) => `So:\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``;

async function verify(
  text: string,
  replies: readonly (string | object)[] = [],
  given: Record<string, unknown> = row,
) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies);
  return { ...(await server.verify(verifyBody(given, messageItem(text)))), prompts };
}

describe("widesearch", () => {
  it("compares the rows in any order, with the tolerance of a column", async () => {
    const { body, prompts } = await verify(table("| bergen | about 300 |", "| **Oslo** | 700 |"), [json({})]);
    expect(body).toMatchObject({
      reward: 1,
      f1_by_item: 1,
      evaluation_message: "All items match perfectly.",
    });
    expect(prompts).toHaveLength(1);
  });

  it.each([
    [table("| Oslo | 700 |"), { reward: 0, precision_by_row: 1, recall_by_row: 0.5 }],
    [
      table("| Oslo | 700 |", "| Bergen | 200 |"),
      { reward: 0, precision_by_row: 0.5, precision_by_item: 0.75 },
    ],
    ["There is no table.", { reward: 0, evaluation_message: "response contains no Markdown table" }],
    [
      "| Name |\n| --- |\n| Oslo |",
      { evaluation_message: "required columns ['name', 'size'] do not match ['name']" },
    ],
  ])("gives partial numbers for %j", async (text, result) => {
    expect((await verify(text)).body).toMatchObject(result);
  });

  it("asks the judge which names mean the same", async () => {
    const text = table("| Oslo | 700 |", "| Bjørgvin | 290 |");
    expect((await verify(text, [json({ Bjørgvin: "Bergen" })])).body.reward).toBe(1);
    expect((await verify(text, ["Bjørgvin is Bergen"])).body).toMatchObject({
      reward: 0,
      _ng_judge: { unreadable: 1 },
    });
    expect((await verify(text)).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    const renamed = text.replace("Name", "City");
    expect((await verify(renamed, [json({ city: "name" }), json({ Bjørgvin: "Bergen" })])).body.reward).toBe(
      1,
    );
    const twice = "| City | Town | Size |\n| a | b | 1 |";
    expect((await verify(twice, [json({ city: "name", town: "name" })])).body.reward).toBe(0);
  });

  it("asks the judge about all cells of a column at once", async () => {
    const size = { metric: ["llm_judge"], criterion: "the same size" };
    const eval_pipeline = { ...row.evaluation.eval_pipeline, size };
    const judged = { ...row, evaluation: { ...row.evaluation, eval_pipeline } };
    const text = table("| Oslo | big |", "| Bergen | small |");
    const { body, prompts } = await verify(text, [json({ idx_0: 1, idx_1: "1" })], judged);
    expect(body).toMatchObject({ reward: 0, precision_by_row: 0.5 });
    expect(prompts[0]).toContain("{'idx_0': {'response': 'big', 'target': '700'}, 'idx_1':");
  });

  it("rejects rows that it cannot evaluate", async () => {
    for (const evaluation of [
      { ...row.evaluation, required: ["name", "size", "mayor"] },
      { ...row.evaluation, unique_columns: ["mayor"] },
      { ...row.evaluation, eval_pipeline: { name: {}, size: { metric: ["looks_good"] } } },
    ])
      expect((await verify("x", [], { ...row, evaluation })).status).toBe(422);
  });
});

describe("tables", () => {
  it.each([
    ["```markdown\nA | B\n1 | 2\n```", ["1", "2"]],
    ["| A | B |\n|:-:|:-:|\n| x | y |\n\n| A | B |\n| 1 | 2 |\nend", ["1", "2"]],
    ["| A | B |\n| 1 | NA |", ["1", "nan"]],
    ["| A | B |\n| 1 |", ["1", "nan"]],
    ['| A | B |\n| "1|0" | 2 |', ["1|0", "2"]],
  ])("reads %j", (text, cells) => {
    expect(readTable(text)).toEqual({ columns: ["a", "b"], rows: [cells] });
  });

  it("writes the reference as pandas does", () => {
    const gold = goldTable([
      { A: 1, B: 1, C: true },
      { A: 2, B: 2.5, D: null },
    ]);
    expect(gold).toEqual({
      columns: ["a", "b", "c", "d"],
      rows: [
        ["1", "1.0", "True", "nan"],
        ["2", "2.5", "nan", "nan"],
      ],
    });
  });
});

it.each([
  ["2024-03-05", "2024-03-05"],
  ["2024/3/5 10:30", "2024-03-05"],
  ["March 5, 2024", "2024-03-05"],
  ["Tuesday, 5th of March 2024", "2024-03-05"],
  ["05 Mar. 2024", "2024-03-05"],
  ["03/05/2024", "2024-03-05"],
  ["13/05/2024", "2024-05-13"],
  ["Sept 2024", "2024-09-01"],
  ["2024年3月5日", "2024-03-05"],
  ["2024", "2024-01-01"],
  ["February 30, 2024", undefined],
  ["soon", undefined],
  ["5", undefined],
])("reads the date %j", (text, day) => {
  const date = readDate(text);
  expect(date === undefined ? undefined : isoDate(date)).toBe(day);
});

it.each([
  ["number_near", "50%", "0.5", 0, 1],
  ["number_near", "95", "100", 0.05, 1],
  ["number_near", "94.9", "100", 0.05, 0],
  ["number_near", "NULL", "NULL", null, 1],
  ["number_near", "nan", "7", 1, 0],
  ["url_match", "see https://a.org/x", "http://a.org", null, 1],
  ["url_match", "https://a.org", "https://b.org", null, 0],
  ["date_near", "2024-04-05", "March 5, 2024", null, 1],
  ["date_near", "2024-04-06", "March 5, 2024", null, 0],
  ["date_near", "soon", "later", null, 1],
] as const)("%s of %j and %j with %j is %d", (metric, response, target, criterion, score) => {
  expect(metricScore(metric, { response, target }, criterion)).toBe(score);
});

it("extracts numbers", () => {
  expect(["1,234 km", "-3.5%", ".5", "none"].map((text) => preprocess(text, ["extract_number"]))).toEqual([
    "1234",
    "-3.5%",
    ".5",
    "NULL",
  ]);
});

import { createJudgedServer, createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { extractSql } from "../../libraries/sql-answers/extract.ts";
import definition from "./app.ts";

const row = { sql: "SELECT 1;", sql_dialect: " PG ", sql_prompt: "How many?", sql_context: "CREATE {x}" };
const answer = "```sql\nSELECT a FROM t;\n```";

async function verify(replies: (string | object)[], config = {}, text = answer) {
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  const { body } = await server.verify(verifyBody(row, messageItem(text)));
  return { body, calls, prompts };
}

describe("extractSql", () => {
  it.each([
    ["```sql\nA\n```\n```SQL SELECT B ```", "SELECT B"],
    ["```sql\n```", null],
    ["```\nCREATE TABLE x(a)\n```", "CREATE TABLE x(a)"],
    ["```python\nSELECT 5\n```", "SELECT 5\n```;"],
    ["The query: select a from t;; done", "select a from t;"],
    ["WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x;"],
    ["CREATE TABLE x(a)", null],
    ["", null],
  ])("finds in %j the query %j", (text, sql) => {
    expect(extractSql(text)).toBe(sql);
  });
});

describe("text_to_sql", () => {
  it("asks in both orders", async () => {
    const { body, prompts } = await verify(["so [[A=B]]", "[[A=B]]"]);
    expect(body).toMatchObject({
      reward: 1,
      judge_passed: true,
      failure_reason: "none",
      sql_dialect: "postgresql",
    });
    expect(prompts[0]).toMatch(/<query_a>\nSELECT 1;\n[\s\S]*<query_b>\nSELECT a FROM t;\n/);
    expect(prompts[1]).toMatch(/<query_a>\nSELECT a FROM t;\n[\s\S]*<query_b>\nSELECT 1;\n/);
    expect(prompts[0]).toContain("CREATE {x}");
  });

  it.each([
    [["[[A!=B]]"], 0],
    [["[[A=B]]", "[[A!=B]]"], 0.25],
    [["[[A=B]]", "who knows"], 0.25],
    [["who knows"], 0],
    [[""], 0],
  ])("scores the replies %j with %d", async (replies, reward) => {
    const { body } = await verify(replies, { reward_if_swap_fails: 0.25 });
    expect(body).toMatchObject({ reward, judge_passed: false, failure_reason: "judge_evaluation_failed" });
  });

  it("asks once without the swap, and nobody without a query", async () => {
    expect((await verify(["[[A=B]]"], { check_twice_swap: false })).body).toMatchObject({ reward: 1 });
    const { body, calls } = await verify([], {}, "I do not know.");
    expect(body).toMatchObject({ reward: 0, failure_reason: "no_sql_extracted" });
    expect(calls).toHaveLength(0);
  });

  it.each([
    ["the first call", [{ status: 429, body: "slow down" }]],
    ["the second call", ["[[A=B]]", { status: 500, body: "" }]],
  ])("fails the rollout if %s fails", async (_name, replies) => {
    expect((await verify(replies)).body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("refuses an unknown dialect", async () => {
    const config = { judge_model_server: "judge" };
    const server = await createTestServer(definition, { config, directory: import.meta.dirname });
    const { status, body } = await server.verify(
      verifyBody({ ...row, sql_dialect: "oracle" }, messageItem(answer)),
    );
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("mysql, postgresql, sqlite");
  });
});

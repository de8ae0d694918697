import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const row = { question: "q", db_id: "weather" };

describe.skipIf(skipWithoutBubblewrap)("spider2_lite", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, {
      config: { spider2_lite_dir: here("data/example"), sql_execution_timeout_s: 1 },
      directory: here("./"),
    });
  });
  afterAll(() => server.close());
  const verify = (text: string, changed: object) =>
    server.verify(verifyBody({ ...row, ...changed }, messageItem(text)));

  const names = { gold_sql: "SELECT name FROM station ORDER BY id" };
  it.each([
    ["SELECT height, name FROM station", names, 1],
    ["SELECT name FROM station ORDER BY name", names, 1],
    ["SELECT name FROM station ORDER BY name", { ...names, ignore_order: false }, 0],
    ["SELECT name FROM station LIMIT 2", names, 0],
    ["SELECT upper(name) FROM station", names, 0],
    ["SELECT 12.504", { gold_sql: "SELECT 12.5" }, 1],
    ["SELECT 12.52", { gold_sql: "SELECT 12.5" }, 0],
    ["SELECT count(*) FROM station", { gold_result: [[["4"]], [[" 3 "]]] }, 1],
    ["SELECT count(*) FROM station", { gold_result: [[["4"]]] }, 0],
    ["SELECT id FROM station", { gold_sql: "SELECT id, name FROM station", condition_cols: [0] }, 1],
    ["SELECT id FROM station", { gold_sql: "SELECT id, name FROM station", condition_cols: [[1], [0]] }, 0],
    ["SELECT 1", { db_id: "missing", gold_sql: "SELECT 1" }, 1],
    ["DELETE FROM station", names, 0],
    ["SELECT 1; SELECT 2", { gold_sql: "SELECT 2" }, 0],
  ])("%s", async (sql, changed, reward) => {
    const { body } = await verify(`\`\`\`sql\n${sql}\n\`\`\``, changed);
    expect(body).toMatchObject({ reward, execution_match: reward === 1, extracted_sql: sql });
    expect(body).not.toHaveProperty("gold_result");
  });

  it("refuses a row without an expected result, and scores an answer without a query", async () => {
    expect((await verify("```sql\nSELECT 1\n```", { gold_result: [] })).status).toBe(422);
    expect((await verify("No idea.", names)).body).toMatchObject({ failure_reason: "no_sql_extracted" });
  });
});

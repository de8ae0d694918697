import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const fence = (sql: string) => messageItem(`\`\`\`sql\n${sql}\n\`\`\``);
const row = { question: "q", db_id: "library", gt_sql: "SELECT title FROM book WHERE year = 2011" };

describe.skipIf(skipWithoutBubblewrap)("bird_sql", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, {
      config: { bird_sql_dir: here("data/example"), sql_execution_timeout_s: 1 },
      directory: here("./"),
    });
  });
  afterAll(() => server.close());
  const verify = async (item: ReturnType<typeof messageItem>, changed = {}) =>
    (await server.verify(verifyBody({ ...row, ...changed }, item))).body;

  it.each([
    ["SELECT title FROM book WHERE year = 2011 ORDER BY title DESC -- newest", {}, "none"],
    ["SELECT title FROM book b JOIN loan l ON l.book_id = b.id WHERE year = 2011", {}, "none"],
    ["SELECT title FROM book", {}, "result_mismatch"],
    ["SELECT titel FROM book", {}, "execution_error"],
    ["SELECT 1; SELECT 2", {}, "execution_error"],
    [
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
      {},
      "execution_timeout",
    ],
    ["SELECT 1.0", { gt_sql: "SELECT 1" }, "none"],
    ["SELECT 9007199254740992.0", { gt_sql: "SELECT 9007199254740993" }, "result_mismatch"],
    ["SELECT 1", { gt_sql: "SELEC 1" }, "gold_execution_error"],
    ["SELECT 1", { db_id: "other" }, "gold_execution_error"],
  ])("%s", async (sql, changed, failure_reason) => {
    const reward = failure_reason === "none" ? 1 : 0;
    expect(await verify(fence(sql), changed)).toMatchObject({ reward, failure_reason, extracted_sql: sql });
  });

  it.each([
    "DROP TABLE book",
    "DELETE FROM book",
    "UPDATE book SET year = 2011",
    "ATTACH '/etc/passwd' AS x",
    "PRAGMA writable_schema = 1",
    "VACUUM INTO '/tmp/x'",
  ])("leaves the database as it is after %s", async (sql) => {
    const file = here("data/example/dev_20240627/dev_databases/library/library.sqlite");
    const before = readFileSync(file);
    expect(await verify(fence(sql))).toMatchObject({ reward: 0 });
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(await verify(fence(row.gt_sql))).toMatchObject({ reward: 1 });
  });

  it("needs a fence, and refuses names of databases that lead elsewhere", async () => {
    expect(await verify(messageItem(row.gt_sql))).toMatchObject({ failure_reason: "no_sql_extracted" });
    for (const db_id of ["../library", "..", "a/b"])
      expect((await server.verify(verifyBody({ ...row, db_id }, fence("SELECT 1")))).status).toBe(422);
  });

  it("fails without a sandbox instead of scoring 0", async () => {
    const without = await createTestServer(app, {
      config: { bird_sql_dir: here("data/example"), sandbox_provider: { openshell: {} } },
      directory: here("./"),
    });
    const reply = await without.verify(verifyBody(row, fence("SELECT 1")));
    expect(reply).toMatchObject({ status: 503, body: { error: { class: "sandbox_unavailable" } } });
    await without.close();
  });
});

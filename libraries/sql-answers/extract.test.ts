import { expect, it } from "vitest";
import { extractSql } from "./extract.ts";

it.each([
  ["```sql\nSELECT 1\n```\n```SQL\nSELECT 2\n```", "SELECT 2"],
  ["```\nprint(1)\n```\n```\nselect 3\n```", "select 3"],
  ["The answer is SELECT 4; as you see; bye", "SELECT 4; as you see;"],
  ["SELECT 5;;;", "SELECT 5;"],
  ["SELECT 6", "SELECT 6;"],
  ["```sql\nSELECT 7", "SELECT 7;"],
  ["```sql\n\n```", null],
  ["nothing", null],
])("%j", (text, sql) => {
  expect(extractSql(text)).toBe(sql);
});

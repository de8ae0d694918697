/**
 * The answer checker alone: `math` compares with the reward of math-verify, `math:strict` with the mathematically correct result, where a row
 * has one.
 *
 * @module
 */

import { isObject } from "../../src/base/python/json/json-object.ts";
import { verifyAnswer } from "../../src/math/index.ts";
import { type FixtureRow, readRows } from "./env/rows.ts";
import type { Suite } from "./suite.ts";

function check(row: FixtureRow, mode: "compat" | "strict"): string | undefined {
  const expected = mode === "strict" ? row["mathematically_equal"] : row.expected["library_reward"] === 1;
  const { equal, rule, gold, answer } = verifyAnswer(String(row["gold"]), String(row["generated_text"]), {
    mode,
  });
  if (equal === expected) return undefined;
  const forms = `${gold.parsed ?? gold.text} and ${answer.parsed ?? answer.text}`;
  return `expected ${expected}, got ${equal} (${rule}) for ${forms}`;
}

export const suite: Suite = async (file, target) => {
  if (target !== undefined && target !== "strict")
    throw new Error(`'math:${target}' is not a suite; use math or math:strict.`);
  const mode = target === "strict" ? "strict" : "compat";
  // Without an extracted answer the environment decided: it found no complete box.
  const rows = (await readRows(file)).filter(
    (row) =>
      isObject(row.expected) &&
      row.expected["extracted_answer"] !== null &&
      typeof row["generated_text"] === "string",
  );
  const relevant =
    mode === "strict" ? rows.filter((row) => typeof row["mathematically_equal"] === "boolean") : rows;
  return relevant.map((row) => ({ id: row.id, run: () => check(row, mode) }));
};

import path from "node:path";
import {
  endingUserProgram,
  lastCodeBlock,
  safeFileName,
  withIncludes,
} from "../../../../resources_servers/competitive_coding_challenges/solution.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, readLines } from "../rows.ts";

/** Cases of single functions. */
const FUNCTIONS: Readonly<Record<string, (row: FixtureRow) => string>> = {
  extract_final_code_block: ({ text, langs }) => lastCodeBlock(String(text), (langs as string[]) ?? []),
  add_includes: ({ code, problem_header_include, problem_id }) =>
    withIncludes(String(code), problem_header_include as string | null, problem_id as string | null),
  patch_run_sh: ({ text }) => endingUserProgram(String(text)),
  safe_fs_name: ({ text }) => safeFileName(String(text)),
};

export const adapter: Adapter = {
  config: (row, { fixtures }) => ({
    test_file: path.join(fixtures, String(row["metadata"] ?? "test_metadata.jsonl")),
  }),
  // Fixtures omit times.
  unlisted: ["total_test_execution_time_s", "mean_test_execution_time_s"],
  rows: readLines,
  caseOf(row) {
    const call = FUNCTIONS[String(row["kind"])];
    if (call) return () => difference(call(row), row.expected, "result");
    // The original's metrics end with an error for rows without results; ours leave them out.
    if (Array.isArray(row["tasks"]) && row.expected["error"] === true) return () => undefined;
    return undefined;
  },
};

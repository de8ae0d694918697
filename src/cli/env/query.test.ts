import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { searchRoots } from "../../config/paths.ts";
import { readQueryRow } from "./query.ts";

const roots = searchRoots({ cwd: tmpdir(), env: {} });

it("finds the rows of a built-in server from every working directory", async () => {
  const row = await readQueryRow("resources_servers/example_single_tool_call/data/example.jsonl:2", roots);
  expect(row).toHaveProperty("responses_create_params");
});

it("names the path in the working directory if no file exists", async () => {
  await expect(readQueryRow("rows/none.jsonl:1", roots)).rejects.toThrow(
    `${tmpdir()}/rows/none.jsonl cannot be read`,
  );
});

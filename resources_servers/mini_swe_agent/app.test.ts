import { readFileSync } from "node:fs";
import { createTestServer, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const [line = ""] = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8").split("\n");
const row = JSON.parse(line) as Record<string, unknown>;
const response = modelResponse();

it("gives 0 for an answer without a patch, without using a sandbox", async () => {
  const server = await createTestServer(definition);
  const { status, body } = await server.verify({ ...row, response });
  expect(status).toBe(200);
  expect(body).toMatchObject({ reward: 0, resolved: false });
  expect(body.metadata.eval_report[String(row["instance_id"])]).toMatchObject({ patch_exists: false });
  await server.close();
});

it("refuses a row that is not an instance", async () => {
  const server = await createTestServer(definition);
  const { instance_id: _id, ...rest } = row;
  expect((await server.verify({ ...rest, response })).status).toBe(422);
  await server.close();
});

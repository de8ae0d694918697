import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../base/python/json/json-object.ts";
import { installRoot } from "../../../config/paths.ts";
import { plainFromNode } from "../../../config/plain-data.ts";
import { readConfigFile } from "../../../config/read-config-file.ts";
import type { ServerDefinition } from "../../../servers/definitions/definitions.ts";
import { messageItem, verifyBody } from "../../../servers/hosting/response-items.ts";
import { createTestServer } from "../../../servers/hosting/test-server.ts";
import { goldAttempts } from "./policies.ts";
import { readAuditSettings } from "./settings.ts";

/** The config with a judge of every shipped environment that has one. */
const folder = path.join(installRoot(), "resources_servers");
const judged = readdirSync(folder).flatMap((name) => {
  const directory = path.join(folder, name, "configs");
  const files = listed(directory).filter((file) => /judge_model_server:/.test(textOf(directory, file)));
  const file = files.find((each) => path.parse(each).name === name) ?? files[0];
  return file === undefined ? [] : [{ name, file: path.join(directory, file) }];
});

/** Judges that cannot be asked here, or whose unreadable replies are shown in another field. Their own tests cover them. */
const ELSEWHERE = new Map([
  ["aegis_v4_safety", "a classifier gives probabilities, and no verdict in words"],
  ["agentif", "replies without a verdict are counted in n_error"],
  ["conversational_tool_use_simulation", "the judge reads a conversation of the session"],
  ["finance_agent_v2", "the judge reads what a tool of the session received"],
  ["gdpval", "replies without a verdict set invalid_judge_response"],
  ["job_bench", "the judge reads files of the sandbox"],
  ["legal_agent_bench", "the judge reads files that a tool of the session wrote"],
  ["newton_bench", "the judge is asked only about laws whose values differ"],
  ["ns_tools", "the judge is that of the environment that it asks"],
  ["widesearch", "the judge is asked only about cells of a table that differ"],
]);

const replies: Record<string, (chat: boolean) => unknown> = {
  "status 429": () => ({ status: 429, body: { error: "slow down" } }),
  "status 500": () => ({ status: 500, body: { error: "out of order" } }),
  "no connection": () => {
    throw new Error("connection refused");
  },
  "no output": () => ({}),
  garbage: (chat) => said("Hm; qwertz &%$", chat),
  nothing: (chat) => said("", chat),
  "a refusal": (chat) =>
    chat
      ? { choices: [{ message: { role: "assistant", content: null, refusal: "I cannot judge this." } }] }
      : {
          output: [{ ...messageItem(""), content: [{ type: "refusal", refusal: "I cannot judge this." }] }],
        },
};

describe.each(judged.filter(({ name }) => !ELSEWHERE.has(name)))("$name", async ({ name, file }) => {
  const directory = path.join(folder, name);
  const { default: definition } = (await import(pathToFileURL(path.join(directory, "app.ts")).href)) as {
    default: ServerDefinition;
  };
  const settings = readAuditSettings(directory, path.parse(file).name);
  const rows = textOf(directory, "data/example.jsonl")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
  const attempts = rows.flatMap((row, index) =>
    [...goldAttempts(row, index, settings.gold), { items: [messageItem("Perhaps it is \\boxed{7}.")] }].map(
      ({ items }) => ({ row, items }),
    ),
  );

  /** Verifies the first attempt about which the judge is asked. */
  async function verify(reply: (chat: boolean) => unknown) {
    for (const { row, items } of attempts) {
      let calls = 0;
      const server = await createTestServer(definition, {
        directory,
        config: { ...configOf(file), should_use_judge: true, ...settings.config },
        servers: {
          policy_model(route) {
            calls++;
            return reply(route.endsWith("/chat/completions"));
          },
        },
      });
      const { status, body } = await server.verify(verifyBody(row, ...items));
      await server.close();
      if (calls > 0) return { status, body: body as JsonObject };
    }
    throw new Error("The judge was not asked.");
  }

  it.each(Object.entries(replies))("never scores silently if the judge gives %s", async (_name, reply) => {
    const { status, body } = await verify(reply);
    const failed = body["_ng_failure_class"] === "judge_failed";
    const counted = Number((body["_ng_judge"] as JsonObject | undefined)?.["unreadable"] ?? 0) > 0;
    expect(status).toBe(200);
    expect(failed || counted, JSON.stringify(body).slice(0, 2000)).toBe(true);
  });

  it.each(["status 429", "status 500", "no connection", "no output"])(
    "fails the rollout after %s",
    async (kind) => {
      const { body } = await verify(replies[kind] as (chat: boolean) => unknown);
      expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
    },
  );
});

function said(text: string, chat: boolean): object {
  return chat
    ? { choices: [{ message: { role: "assistant", content: text } }] }
    : { output: [messageItem(text)] };
}

function configOf(file: string): JsonObject {
  const config = plainFromNode(readConfigFile(file)) as Record<string, { resources_servers?: JsonObject }>;
  const block = Object.values(config).find(({ resources_servers }) => resources_servers !== undefined);
  return Object.values(block?.resources_servers ?? {})[0] as JsonObject;
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(directory: string, file: string): string {
  return readFileSync(path.join(directory, file), "utf8");
}

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
import { readSettings } from "./settings.ts";

/** The config with a judge of every shipped environment that has one. */
const folder = path.join(installRoot(), "resources_servers");
const judged = readdirSync(folder).flatMap((name) => {
  const directory = path.join(folder, name, "configs");
  const files = listed(directory).filter((file) => /judge_model_server:/.test(textOf(directory, file)));
  const file = files.find((each) => path.parse(each).name === name) ?? files[0];
  return file === undefined ? [] : [{ name, file: path.join(directory, file) }];
});

/** Its classifier gives probabilities and no verdict in words; its own tests cover it. */
const ELSEWHERE = new Set(["aegis_v4_safety"]);

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
  const settings = readSettings(directory, path.parse(file).name);
  const row = JSON.parse(textOf(directory, "data/example.jsonl").split("\n")[0] ?? "") as JsonObject;
  const attempts = [
    goldAttempts(row, 0, settings.gold)[0]?.items,
    [messageItem("Perhaps it is \\boxed{7}.")],
  ];

  /** Verifies the first attempt about which the judge is asked. */
  async function verify(reply: (chat: boolean) => unknown) {
    for (const items of attempts) {
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
      const { status, body } = await server.verify(verifyBody(row, ...(items ?? [])));
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

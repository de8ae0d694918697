import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ModelDefinition } from "../../src/servers/definitions/define-model.ts";
import { loadDefinition } from "../../src/servers/hosting/load-definition.ts";
import { providerConfig } from "../../src/servers/model-endpoint/settings.ts";
import { repositoryRoot } from "./generated-files.ts";

const page = readFileSync(path.join(repositoryRoot, "docs/reference/model-servers.md"), "utf8");
const models = path.join(repositoryRoot, "responses_api_models");

/** Servers that have all keys of another server and more; the page refers to the other server. */
const EXTENDS: Readonly<Record<string, string>> = {
  vllm_model_with_compaction: "vllm_model",
  local_vllm_model: "vllm_model",
  local_vllm_model_proxy: "vllm_model",
  genrm_model: "local_vllm_model",
};

/** The keys in the tables below a heading. */
function documented(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? "";
  return [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, key]) => key as string);
}

/** The keys of a server's schema; one of them accepts an older name of `model`. */
function keysOf(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? keysOf(schema.def.out as z.ZodType) : [];
}

const shared = Object.keys(providerConfig());

describe("docs/reference/model-servers.md", () => {
  it("lists the keys that all servers share", () => {
    expect(documented("Keys of every server that calls an endpoint")).toEqual(shared);
  });

  it.each(readdirSync(models))("lists the keys of %s", async (name) => {
    const file = path.join(models, name, "app.ts");
    const { options } = (await loadDefinition(file, repositoryRoot)) as ModelDefinition;
    const own = (server: string): string[] => [
      ...(EXTENDS[server] ? own(EXTENDS[server]) : []),
      ...documented(server),
    ];
    const keys = keysOf(options.config as z.ZodType).filter((key) => !shared.includes(key));
    expect([...new Set(own(name))].sort()).toEqual(keys.sort());
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "./generated-files.ts";

const folder = path.join(repositoryRoot, "responses_api_models");
const page = readFileSync(path.join(repositoryRoot, "docs/reference/model-servers.md"), "utf8");
const sections = new Map(
  page.split(/^## /m).map((text) => [text.slice(0, text.indexOf("\n")), text] as const),
);

/** Servers whose keys include all those of another. */
const EXTENDS: Readonly<Record<string, string>> = {
  vllm_model_with_compaction: "vllm_model",
  local_vllm_model: "vllm_model",
  local_vllm_model_proxy: "vllm_model",
  genrm_model: "local_vllm_model",
};

interface Schema {
  shape?: Record<string, unknown>;
  def?: { out?: Schema };
}

function keysOf(schema: Schema): string[] {
  return Object.keys(schema.shape ?? schema.def?.out?.shape ?? {});
}

function documented(server: string): string {
  const own = sections.get(server) ?? "";
  const parent = EXTENDS[server];
  const common = sections.get("Keys of every server that calls an endpoint") ?? "";
  return own + (parent ? documented(parent) : common);
}

it.each(readdirSync(folder))("every config key of %s is in the reference", async (server) => {
  const module = (await import(path.join(folder, server, "app.ts"))) as {
    default: { options: { config: Schema } };
  };
  const keys = keysOf(module.default.options.config);
  expect(keys.length).toBeGreaterThan(1);
  const missing = keys.filter((key) => !documented(server).includes(`| \`${key}\` |`));
  expect(missing).toEqual([]);
});

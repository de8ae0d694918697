import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "implied-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

async function serversOf(name: string) {
  const config = await resolveConfig({
    initial: { config_paths: [`resources_servers/${name}/configs/${name}.yaml`] },
    cwd: root,
    skipEnvYaml: true,
    noModel: true,
    offline: true,
  });
  const own = config.servers.filter(({ type }) => type !== "responses_api_models");
  return own.map(({ name: instance, implementation, config: block }) => ({
    instance,
    implementation,
    datasets: block["datasets"],
  }));
}

describe("a resources server without YAML", () => {
  it("gets an agent and its example data", async () => {
    write("resources_servers/quiz/app.ts", "export default defineResourcesServer({})");
    write("resources_servers/quiz/data/example.jsonl", "{}\n");
    expect(await serversOf("quiz")).toEqual([
      { instance: "quiz", implementation: "quiz", datasets: undefined },
      {
        instance: "quiz_simple_agent",
        implementation: "simple_agent",
        datasets: [
          { name: "example", type: "example", jsonl_fpath: "resources_servers/quiz/data/example.jsonl" },
        ],
      },
    ]);
  });

  it("is named in errors by its folder, not by a file that does not exist", async () => {
    write("resources_servers/quiz/app.ts", "export default defineResourcesServer({})");
    const initial = { config_paths: ["resources_servers/quiz/configs/quiz.yaml"] };
    await expect(resolveConfig({ initial, cwd: root, skipEnvYaml: true, offline: true })).rejects.toThrow(
      /'policy_model', which is not configured \(\S*resources_servers\/quiz \(default config\):\d+:\d+\)/,
    );
  });

  it("gets the gymnasium agent if it is a game", async () => {
    write("resources_servers/chess/app.js", "export default defineGymnasiumServer({})");
    const [server, agent] = await serversOf("chess");
    expect([server?.implementation, agent?.implementation]).toEqual(["chess", "gymnasium_agent"]);
  });

  it("has code and no configs", async () => {
    write("resources_servers/quiz/app.ts", "export default defineResourcesServer({})");
    write("resources_servers/quiz/configs/other.yaml", "{}");
    await expect(serversOf("quiz")).rejects.toThrow("was not found");
    write("resources_servers/python/app.py", "");
    await expect(serversOf("python")).rejects.toThrow("was not found");
  });
});

import { describe, expect, it } from "vitest";
import { resolveConfig } from "../config/resolve.ts";
import { parseWords } from "./arguments.ts";
import { type Command, defineCommand } from "./command.ts";
import { configFlag, modelFlags, searchDirFlag, selectorFlags, serverFolderFlag } from "./flags.ts";
import { collectOverrides } from "./overrides.ts";

const command = defineCommand({
  words: "run",
  summary: "",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    resume: { kind: "switch", key: "resume_from_cache", help: "" },
    format: { kind: "switch", key: "format", sets: "json", help: "" },
    limit: { kind: "value", key: "limit", help: "" },
    range: { kind: "value", key: "reward_range", metavar: ["LOW", "HIGH"], help: "" },
    revision: { kind: "text", key: ["version", "revision"], help: "" },
    local: { kind: "text", help: "" },
    ...modelFlags,
  },
  run: async () => 0,
});

const collect = (argv: string[], of: Command = command, env: Record<string, string> = {}) =>
  collectOverrides(of, parseWords(of, argv), {
    select: async (_kind, flag, value) => `/${flag}/${value}.yaml`,
    roots: [],
    env,
  });
const literal = (path: string, value: unknown, source: string) => ({ op: "+", path, value, source });

describe("collectOverrides", () => {
  it("puts verbose and config_paths first, then flags in their defined order, then the user's words", async () => {
    expect(
      await collect(["+x=1", "--model", "m", "--limit", "5", "--config", "a.yaml", "-v", "y=2"]),
    ).toEqual([
      literal("verbose", true, "--verbose"),
      literal("config_paths", ["a.yaml"], "--config a.yaml"),
      "+limit=5",
      literal("policy_model_name", "m", "--model"),
      "+x=1",
      "y=2",
    ]);
  });

  it("takes server, address and key of `-m provider/model` from the provider and the environment", async () => {
    const short = (path: string, value: string) => ({
      op: "++",
      path,
      value,
      source: "--model openai/gpt-5.2",
    });
    expect(
      await collect(["-m", "openai/gpt-5.2", "--config", "a.yaml"], command, { OPENAI_API_KEY: " k " }),
    ).toEqual([
      literal(
        "config_paths",
        ["/model/openai_model.yaml", "a.yaml"],
        "--config a.yaml --model openai/gpt-5.2",
      ),
      short("policy_model_name", "gpt-5.2"),
      short("policy_base_url", "https://api.openai.com/v1"),
      short("policy_api_key", "k"),
    ]);
    const local = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    expect(await collect(["-m", "anthropic/claude"], command, local)).toContainEqual({
      op: "++",
      path: "policy_model.responses_api_models.anthropic_model.base_url",
      value: "http://127.0.0.1:9",
      source: "--model anthropic/claude",
    });
    await expect(collect(["-m", "openai/gpt-5.2"])).rejects.toThrow(
      "openai/gpt-5.2 needs an API key, and OPENAI_API_KEY is not set",
    );
    expect(await collect(["-m", "google/g"], command, { GOOGLE_API_KEY: "g" })).toContainEqual(
      expect.objectContaining({ path: "policy_api_key", value: "g" }),
    );
  });

  it("leaves a model name with a slash as it is if a model server is chosen, or its prefix is not a provider", async () => {
    const env = { OPENAI_API_KEY: "secret" };
    for (const words of [
      ["--model-type", "vllm_model", "-m", "openai/gpt-oss-20b"],
      ["--model-url", "http://h/v1", "-m", "openai/gpt-oss-20b"],
      ["-m", "Qwen/Qwen3-8B"],
    ]) {
      const overrides = await collect(words, command, env);
      expect(JSON.stringify(overrides)).not.toContain("secret");
      expect(overrides).toContainEqual(literal("policy_model_name", words.at(-1), "--model"));
    }
  });

  it("names the flags that accept a file when a file is given without a flag", async () => {
    const files = defineCommand({
      words: "run",
      summary: "",
      flags: {
        inputs: { kind: "text", key: "inputs", completes: "file", help: "" },
        rollouts: { kind: "text", key: "rollouts", completes: "file", help: "" },
        limit: { kind: "value", key: "limit", help: "" },
      },
      run: async () => 0,
    });
    await expect(collect(["results/t1.jsonl"], files)).rejects.toThrow(
      "unrecognized argument: 'results/t1.jsonl'. Pass files with --inputs, --rollouts.",
    );
    expect(await collect(["+rollouts=t1.jsonl"], files)).toEqual(["+rollouts=t1.jsonl"]);
  });

  it("counts the arguments that a command accepts when there are more", async () => {
    const view = defineCommand({
      words: "view",
      summary: "",
      flags: { "to-html": { kind: "text", completes: "file", help: "" } },
      positionals: { RUN: { help: "", optional: true }, OTHER: { help: "", optional: true } },
      run: async () => 0,
    });
    await expect(collect(["a", "b.jsonl", "c.jsonl", "d"], view)).rejects.toThrow(
      "unrecognized arguments: c.jsonl d. At most 2 arguments are accepted: RUN, OTHER.",
    );
    expect(await collect(["a", "b", "+c=1", "~d"], view)).toEqual(["+c=1", "~d"]);
  });

  it("joins config paths: selectors in defined order, --config, then the user's lists", async () => {
    const argv = [
      "+config_paths=[u1,u2]",
      "--model-type",
      "m",
      "--benchmark",
      "b",
      "--config",
      "a,b",
      "--config",
      "c",
    ];
    expect(await collect(argv)).toEqual([
      "+config_paths=['/benchmark/b.yaml','/model-type/m.yaml','a','b','c',u1,u2]",
    ]);
  });

  it("joins the user's own lists as they were typed", async () => {
    expect(await collect(["+config_paths=[a,b]", "+config_paths=[]", "+config_paths=[${c},'d e']"])).toEqual([
      "+config_paths=[a,b,${c},'d e']",
    ]);
  });

  it("quotes paths so that the grammar restores them", async () => {
    const path = "it's \\ odd\\'${x}\\";
    const [word] = await collect(["--config", path, "+config_paths=[b]"]);
    const config = await resolveConfig({
      overrides: [`++paths=${String(word).slice("+config_paths=".length)}`],
      skipEnvYaml: true,
      offline: true,
      env: {},
    });
    expect(config.get("paths")).toEqual([path, "b"]);
  });

  it("does not join replacements and interpolations", async () => {
    expect(await collect(["++config_paths=[a]", "--config", "c"])).toEqual([
      literal("config_paths", ["c"], "--config c"),
      "++config_paths=[a]",
    ]);
    const words = await collect(["+config_paths=${mine}", "--config", "c"]);
    expect(words[1]).toBe("+config_paths=${mine}");
  });

  it("uses the values of text flags literally", async () => {
    const key = "sk-=,#&(~ü${x";
    expect(await collect(["--model-api-key", key])).toEqual([
      literal("policy_api_key", key, "--model-api-key"),
    ]);
  });

  it("parses other values with the override grammar", async () => {
    expect(await collect(["--limit", "{a: 4, _default: 1}"])).toEqual(["+limit={a: 4, _default: 1}"]);
    expect(await collect(["--range", "-1", "1"])).toEqual(["+reward_range=[-1,1]"]);
  });

  it("supports switches with a value, several keys and flags without a key", async () => {
    expect(await collect(["--resume", "--format", "--revision", "v1", "--local", "x"])).toEqual([
      literal("resume_from_cache", true, "--resume"),
      literal("format", "json", "--format"),
      literal("version", "v1", "--revision"),
      literal("revision", "v1", "--revision"),
    ]);
  });

  it("adds the prefix of a flag to its value", async () => {
    const test = defineCommand({
      words: "run",
      summary: "",
      flags: serverFolderFlag,
      positionals: { NAME: { help: "", optional: true, key: "component_name" } },
      run: async () => 0,
    });
    expect(await collect(["n", "--resources-server", "mcqa"], test)).toEqual([
      literal("component_name", "n", "NAME"),
      literal("entrypoint", "resources_servers/mcqa", "--resources-server"),
    ]);
  });

  it("rejects empty config paths", async () => {
    await expect(collect(["--config", "a,,b"])).rejects.toThrow("argument --config: empty path in 'a,,b'");
  });
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AlmostServerError,
  ConfigError,
  ConfigInterpolationError,
  ConfigPathNotFoundError,
  MalformedConfigPathsError,
  NoServerInstancesError,
  ServerRefNotFoundError,
} from "./errors.ts";
import { loadConfigFromEnv, type ResolveOptions, resolveConfig } from "./resolve.ts";

let base: string;
let notices: string[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-config-")));
  notices = [];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

type Files = Record<string, string | Buffer>;

/** Resolves `main.yaml` (and what the options say) in a directory that holds `files`. */
function resolve(files: Files, options: ResolveOptions = {}) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
    writeFileSync(path.join(base, name), text);
  }
  return resolveConfig({
    cwd: base,
    installRoot: path.join(base, "install"),
    env: { HOME: "/home/ada" },
    offline: true,
    onNotice: (text) => notices.push(text),
    ...options,
    overrides: ["+config_paths=[main.yaml]", ...(options.overrides ?? [])],
  });
}

async function failure(files: Files, options: ResolveOptions = {}): Promise<ConfigError> {
  try {
    await resolve(files, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("was accepted");
}

const MODEL = "clay:\n  responses_api_models:\n    pit: {entrypoint: app.py}\n";
const RESOURCES =
  "kiln:\n  resources_servers:\n    oven: {entrypoint: app.py, domain: other, api_key: hush}\n";
const AGENT = `potter:
  responses_api_agents:
    wheel:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: kiln}
      model_server: {type: responses_api_models, name: clay}
`;

describe("resolveConfig", () => {
  it("returns the servers in config order with their addresses and resolved blocks", async () => {
    const config = await resolve({
      "main.yaml": `${MODEL}${RESOURCES}${AGENT}      deep: {limit: '\${shared.limit}'}\nshared: {limit: 5}\n`,
    });
    expect(config.servers.map(({ name, type, implementation }) => [name, type, implementation])).toEqual([
      ["clay", "responses_api_models", "pit"],
      ["kiln", "resources_servers", "oven"],
      ["potter", "responses_api_agents", "wheel"],
    ]);
    expect(config.servers[2]).toMatchObject({ entrypoint: "app.py", host: "127.0.0.1", port: -1 });
    expect(config.servers[2]?.config).toMatchObject({ deep: { limit: 5 }, host: "127.0.0.1", port: -1 });
    expect(config.get("potter.responses_api_agents.wheel.deep")).toEqual({ limit: 5 });
    expect(config.get("nothing.here")).toBeUndefined();
  });

  it("finds free ports in the range", async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, "0.0.0.0", done));
    const { port } = taken.address() as { port: number };
    try {
      // Other programs may use some ports of the range.
      const range = [`++port_range_low=${port}`, `++port_range_high=${port + 40}`];
      const config = await resolve({ "main.yaml": MODEL }, { overrides: range, offline: false });
      expect(config.servers[0]?.port).toBeGreaterThan(port);
      expect(config.servers[0]?.port).toBeLessThanOrEqual(port + 40);
      const error = await failure(
        { "main.yaml": MODEL },
        { overrides: [`++port_range_low=${port}`, `++port_range_high=${port}`], offline: false },
      );
      expect(error.code).toBe("CONFIG_NO_FREE_PORT");
      expect(error.message).toMatch(/50 attempts.*11000/s);
    } finally {
      taken.close();
    }
  });

  it("accepts a resources server without a domain, unless requireDomain is set", async () => {
    const files = { "main.yaml": "kiln:\n  resources_servers:\n    oven: {entrypoint: app.py}\n" };
    expect((await resolve(files)).servers).toHaveLength(1);
    expect(await failure(files, { requireDomain: true })).toBeInstanceOf(AlmostServerError);
  });

  it("describes almost-servers without showing secrets", async () => {
    const error = await failure({
      "main.yaml": `a:\n  resources_servers:\n    x: {entrypoint: app.py, domain: maths, port: '\${p}', my_key: hush}\np: 5\n`,
    });
    expect(error).toBeInstanceOf(AlmostServerError);
    expect(error.message).toContain("1 almost-server(s)");
    expect(error.message).not.toContain("hush");
    expect(notices.join()).toContain("Almost-Server Detected: 'a'");
    expect(notices.join()).toMatch(/resources_servers -> x -> port: Must be an integer \(.*main.yaml:3:/);
    expect(notices.join()).toMatch(/domain: Must be one of: 'math', 'coding'/);
  });

  it("continues without almost-servers if the config allows it", async () => {
    const config = await resolve({
      "main.yaml": `error_on_almost_servers: false\n${MODEL}bad:\n  responses_api_agents:\n    w: {entrypoint: 5}\n`,
    });
    expect(config.servers.map(({ name }) => name)).toEqual(["clay"]);
    expect(config.get("bad.responses_api_agents.w")).toEqual({ entrypoint: 5 });
  });

  it("requires exactly one implementation", async () => {
    const text = "a:\n  responses_api_models:\n    x: {entrypoint: app.py}\n    y: {entrypoint: app.py}\n";
    await failure({ "main.yaml": text });
    expect(notices.join()).toContain("exactly one implementation, but has 2");
  });

  it("checks dataset entries", async () => {
    const entry = (fields: string) =>
      failure({
        "main.yaml": `${MODEL}p:\n  responses_api_agents:\n    w:\n      entrypoint: app.py\n      datasets:\n      - ${fields}\n`,
      });
    await entry("{name: a, type: train, jsonl_fpath: a.jsonl}");
    await entry("{name: a, type: exam, jsonl_fpath: a.jsonl}");
    await entry("{name: a, type: benchmark, jsonl_fpath: a.jsonl}");
    await entry("{name: a, type: example, jsonl_fpath: a.jsonl, num_repeats: 0}");
    await entry(
      "{name: a, type: train, license: MIT, jsonl_fpath: a.jsonl, source: {type: huggingface, repo_id: x}, huggingface_identifier: {repo_id: x}}",
    );
    await entry("{name: a, type: train, license: MIT, jsonl_fpath: a.jsonl, source: {type: ftp}}");
    for (const problem of [
      "A license is required for a",
      "type: Must be one of: 'train', 'validation', 'example', 'benchmark'",
      "prepare_script: Field required",
      "num_repeats: Must be greater than or equal to 1",
      "Dataset 'a' has 'source' together with 'huggingface_identifier'",
      "source -> type: Must be one of: 'gitlab', 'huggingface'",
    ])
      expect(notices.join("\n")).toContain(problem);
  });

  it("resolves the names of references, and checks only direct fields", async () => {
    const config = await resolve({
      "main.yaml": `${RESOURCES}who: kiln\np:\n  responses_api_agents:\n    w:\n      entrypoint: app.py\n      resources_server: {type: resources_servers, name: '\${who}'}\n      deep: {inner: {type: resources_servers, name: nowhere}}\n`,
    });
    expect(config.servers).toHaveLength(2);
  });

  it("suggests a name for a broken reference", async () => {
    const error = await failure({
      "main.yaml": `${AGENT}${MODEL}kilns:\n  resources_servers:\n    o: {entrypoint: app.py}\n`,
    });
    expect(error).toBeInstanceOf(ServerRefNotFoundError);
    expect(error.message).toContain(
      "In server instance 'potter', field 'resources_server' refers to resources_servers/'kiln'",
    );
    expect(error.message).toContain("Did you mean: 'kilns'?");
    expect(error.position).toMatchObject({ line: 5 });
  });

  it("explains how to choose a model if none is configured", async () => {
    const error = await failure({ "main.yaml": `${AGENT}${RESOURCES}` });
    expect(error.message).toContain("Available responses_api_models: (none). Choose the model: --model-type");
  });

  it("accepts old names of instances in references and overrides", async () => {
    const config = await resolve(
      {
        "main.yaml": `${MODEL}example_single_tool_call:\n  resources_servers:\n    simple_weather: {entrypoint: app.py}\nexample_single_tool_call_simple_agent:\n  responses_api_agents:\n    simple_agent:\n      entrypoint: app.py\n      resources_server:\n        type: resources_servers\n        name: ???\n`,
      },
      {
        overrides: [
          "+simple_weather_simple_agent.responses_api_agents.simple_agent.resources_server.name=simple_weather",
        ],
      },
    );
    expect(
      config.get(
        "example_single_tool_call_simple_agent.responses_api_agents.simple_agent.resources_server.name",
      ),
    ).toBe("example_single_tool_call");
    expect(config.get("simple_weather_simple_agent")).toBeUndefined();
    expect(notices.join()).toContain(
      "'simple_weather_simple_agent' is now called 'example_single_tool_call_simple_agent'",
    );
  });

  it("accepts old names of implementations in overrides", async () => {
    const config = await resolve(
      {
        "main.yaml": `${MODEL}math_with_judge:\n  resources_servers:\n    math_with_judge: {entrypoint: app.py}\n`,
      },
      { overrides: ["+library_judge_math.resources_servers.library_judge_math.should_use_judge=false"] },
    );
    expect(config.get("math_with_judge.resources_servers")).toEqual({
      math_with_judge: expect.objectContaining({ entrypoint: "app.py", should_use_judge: false }),
    });
  });

  it.each([
    ["results_dir: ''", "results_dir must be a non-empty path string, but it is ''"],
    ["cache_dir: [a]", "cache_dir must be a non-empty path string"],
    ["allow_openai_version_skew: 'yes'", "allow_openai_version_skew must be a boolean"],
    ["model_endpoint_readiness_timeout_seconds: soon", "must be a number of seconds, but it is 'soon'"],
    ["port_range_low: many", "port_range_low must be a port"],
    ["port_range_low: 300\nport_range_high: 200", "at most port_range_high (200)"],
    ["head_server: null", "head_server must be a mapping"],
    ["head_server: {port: x}", "head_server.port must be an integer"],
    ["default_host: [1]", "default_host must be a host name"],
  ])("rejects the setting %s", async (text, problem) => {
    const error = await failure({ "main.yaml": `${text}\n` });
    expect(error.message).toContain(problem);
    expect(error.position?.line).toBe(1);
  });

  it("reads defaults from files as well", async () => {
    const config = await resolve({
      "main.yaml": "results_dir: ~/r\nmodel_endpoint_readiness_timeout_seconds: null\nhead_server: {}\n",
    });
    expect(config.toObject()).toMatchObject({
      results_dir: "/home/ada/r",
      model_endpoint_readiness_timeout_seconds: 600,
      head_server: { host: "127.0.0.1", port: 11000 },
      disallowed_ports: [11000],
    });
  });

  it("adds the host to a head server with a port, because Python servers read it", async () => {
    const config = await resolve({ "main.yaml": "head_server: {port: 5123}\n" });
    expect(config.get("head_server")).toEqual({ host: "127.0.0.1", port: 5123 });
  });

  it.each<[string, Files, (error: ConfigError) => void]>([
    [
      "a missing file, with the closest name",
      { "main.yaml": "config_paths: [parts/iner.yaml]\n", "parts/inner.yaml": "" },
      (error) => {
        expect(error).toBeInstanceOf(ConfigPathNotFoundError);
        expect(error.message).toContain("'parts/iner.yaml' was not found (written in");
        expect(error.message).toContain("Did you mean 'parts/inner.yaml'?");
      },
    ],
    [
      "a directory instead of a file",
      { "main.yaml": "config_paths: [parts]\n", "parts/inner.yaml": "" },
      (error) => expect(error.message).toMatch(/parts' cannot be read: it is a directory/),
    ],
    [
      "bytes that are not UTF-8",
      { "main.yaml": Buffer.from([0x61, 0x3a, 0x20, 0x31, 0x0a, 0x62, 0x3a, 0x20, 0xff, 0x0a]) },
      (error) => {
        expect(error.message).toContain("is not UTF-8 text: invalid byte at line 2, column 4");
        expect(error.code).toBe("CONFIG_FILE_UNREADABLE");
      },
    ],
    [
      "a nested config_paths that is not a list",
      { "main.yaml": "config_paths: other.yaml\n" },
      (error) => expect(error).toBeInstanceOf(MalformedConfigPathsError),
    ],
    [
      "an interpolation with bad syntax, however deep",
      { "main.yaml": "a:\n  b:\n  - {c: 'x ${'}\n" },
      (error) => {
        expect(error).toBeInstanceOf(ConfigInterpolationError);
        expect(error.position).toMatchObject({ line: 3, column: 9 });
      },
    ],
    [
      "a broken interpolation in a list",
      { "main.yaml": "a: {b: [1, {c: ['${nope}']}]}\n" },
      (error) => expect(error.message).toContain("'a.b[1].c[0]' references 'nope'"),
    ],
  ])("reports %s", async (_name, files, check) => {
    check(await failure(files));
  });

  it("reports broken nested interpolations only when they are read", async () => {
    const config = await resolve({ "main.yaml": `${MODEL}a: {b: '\${nope}'}\n` });
    expect(config.servers.map(({ name }) => name)).toEqual(["clay"]);
    expect(() => config.toObject()).toThrow("'a.b' references 'nope'");
    await expect(resolve({}, { hideSecrets: true })).rejects.toThrow("'a.b' references 'nope'");
  });

  it("fails if the config has no servers", async () => {
    expect(await failure({ "main.yaml": "x: 1\n" }, { requireServers: true })).toBeInstanceOf(
      NoServerInstancesError,
    );
  });

  it("reads an explicit env.yaml, and skips it on request", async () => {
    const files = { "main.yaml": "a: 1\n", "env.yaml": "a: 2\n", "other.yaml": "a: 3\n" };
    expect((await resolve(files)).get("a")).toBe(2);
    expect((await resolve(files, { skipEnvYaml: true })).get("a")).toBe(1);
    expect((await resolve(files, { envYamlPath: "other.yaml" })).get("a")).toBe(3);
    expect(await failure(files, { envYamlPath: "nope.yaml" })).toBeInstanceOf(ConfigPathNotFoundError);
  });

  it("merges the dummy model into a real one, and keeps it if there is none", async () => {
    const agent =
      "a:\n  responses_api_agents:\n    w:\n      entrypoint: app.py\n      model_server: {type: responses_api_models, name: policy_model}\n";
    const dummy = await resolve({ "main.yaml": agent }, { noModel: true });
    expect(dummy.servers.map(({ implementation }) => implementation)).toEqual(["w", "dummy_model"]);
    const real = await resolve(
      {
        "main.yaml": `${agent}policy_model:\n  responses_api_models:\n    furnace: {url: '\${policy_base_url}'}\n`,
      },
      { noModel: true },
    );
    expect(real.get("policy_model.responses_api_models")).toEqual({
      furnace: { entrypoint: "app.py", url: "", host: "127.0.0.1", port: -1 },
    });
  });

  it("merges the dummy model into an instance of another type", async () => {
    const config = await resolve(
      { "main.yaml": "policy_model:\n  responses_api_agents:\n    w: {n: 1}\n" },
      { noModel: true },
    );
    expect(config.get("policy_model")).toEqual({
      responses_api_agents: { w: { entrypoint: "app.py", n: 1, host: "127.0.0.1", port: -1 } },
    });
  });

  it("lists missing values, with examples for the first three", async () => {
    const error = await failure({ "main.yaml": "a: ???\nb:\n- ok\n- ???\nc:\n  d: ???\n  e: ???\n" });
    expect(error.name).toBe("ConfigMissingValuesError");
    expect(error.message).toContain("4 required config value(s)");
    expect(error.message).toMatch(/ {2}- a\n {2}- b\[1\]\n {2}- c\.d\n {2}- c\.e\n/);
    expect(error.message.match(/<value>/g)).toHaveLength(3);
    expect(error.message).not.toContain("--agent-type");
    expect(error.position).toMatchObject({ line: 1, column: 4 });
  });

  it("explains that an agent needs an environment", async () => {
    const error = await failure({
      "main.yaml":
        "a:\n  responses_api_agents:\n    w: {entrypoint: app.ts, resources_server: {type: resources_servers, name: '???'}}\n",
    });
    expect(error.message).toContain("select it with --agent-type");
  });

  it("copies the settings for skipping verification to agents without them", async () => {
    const config = await resolve({
      "main.yaml":
        "skip_verification: true\nskip_verification_reward: null\na:\n  responses_api_agents:\n    w: {entrypoint: app.py}\nb:\n  responses_api_agents:\n    w: {entrypoint: app.py, skip_verification: false}\n",
    });
    expect(config.servers.map((server) => server.config.skip_verification)).toEqual([true, false]);
    expect(config.servers[0]?.config).not.toHaveProperty("skip_verification_reward");
  });

  it("masks lists and interpolations below a secret key", async () => {
    const config = await resolve(
      {
        "main.yaml":
          "names: [a, b]\nbox: {n: 1}\napi_keys: ${names}\nkey_box: ${box}\nrows: [[{a_token: t}]]\nmy_headers: {Cookie: c, X: y}\n" +
          "client_secret: abc\nenv: {OPENAI_API_KEY: sk-1}\nurl: https://me:pw@h\nmax_output_tokens: 4096\ncopied: x-sk-abcdefgh1\nkey: sk-abcdefgh1\n",
      },
      { hideSecrets: true },
    );
    expect(config.toObject()).toMatchObject({
      names: ["a", "b"],
      api_keys: ["****", "****"],
      key_box: { n: 1 },
      rows: [[{ a_token: "****" }]],
      my_headers: { Cookie: "****", X: "y" },
      client_secret: "****",
      env: { OPENAI_API_KEY: "****" },
      url: "https://****@h",
      max_output_tokens: 4096,
      copied: "x-****",
    });
  });

  it("stops at cycles of includes", async () => {
    const config = await resolve({
      "main.yaml": "config_paths: [b.yaml]\na: 1\n",
      "b.yaml": "config_paths: [main.yaml]\nb: 2\n",
    });
    expect(config.toObject()).toMatchObject({ a: 1, b: 2, config_paths: ["main.yaml", "b.yaml"] });
    expect(notices.join()).toContain("Duplicate config paths:\n- main.yaml");
  });
});

describe("ResolvedConfig", () => {
  it("masks secrets on request, including interpolated ones", async () => {
    const config = await resolve({ "main.yaml": `${RESOURCES}url: http://\${my_key}@h\nmy_key: s3cret\n` });
    expect(config.get("url")).toBe("http://s3cret@h");
    expect(config.toObject({ hideSecrets: true })).toMatchObject({ url: "http://****@h", my_key: "****" });
    expect(config.toYaml({ resolve: true, hideSecrets: true })).not.toContain("s3cret");
    expect(config.toYaml({ hideSecrets: true })).not.toContain("s3cret");
    expect(config.toYaml()).toContain("url: http://${my_key}@h");
  });

  it("is unchanged in a child process", async () => {
    const config = await resolve({
      "main.yaml": `${MODEL}${RESOURCES}${AGENT}one: 1.0\nodd: "\\\\\${x} é: #"\n? 7\n: seven\n`,
    });
    const child = loadConfigFromEnv(config.toYaml());
    expect(child.toObject()).toEqual(config.toObject());
    expect(child.servers.map(({ config: block }) => block)).toEqual(
      config.servers.map(({ config: block }) => block),
    );
    expect(config.toYaml()).toContain("one: 1.0\n");
  });
});

describe("explain", () => {
  it("lists every source in order of precedence and the winner", async () => {
    const config = await resolve(
      {
        "main.yaml": "config_paths: [inner.yaml]\na:\n  b: 2\n",
        "inner.yaml": "a: {b: 1, c: 5}\n",
        "env.yaml": "a:\n  b: ???\n",
      },
      { overrides: ["++a.b=4"] },
    );
    expect(config.explain("a.b")).toEqual({
      path: "a.b",
      value: 4,
      sources: [
        { where: "inner.yaml:1:8", value: 1, won: false },
        { where: "main.yaml:3:6", value: 2, won: false },
        { where: "env.yaml:2:6", value: "???", won: false },
        { where: "command line: ++a.b", value: 4, won: true },
      ],
    });
    expect(config.explain("a.c").sources).toEqual([{ where: "inner.yaml:1:14", value: 5, won: true }]);
    expect(config.explain("dry_run").sources).toEqual([{ where: "default", value: false, won: true }]);
    expect(config.explain("nope")).toEqual({ path: "nope", value: undefined, sources: [] });
  });

  it("follows directives and interpolations", async () => {
    const config = await resolve(
      {
        "main.yaml": "t: {_inherit_from: s}\ns: {url: '${policy_base_url}'}\n",
        "env.yaml": "policy_base_url: http://h\n",
      },
      { overrides: [{ op: "++", path: "s.n", value: 1, source: "--flag" }] },
    );
    expect(config.explain("t.url")).toEqual({
      path: "t.url",
      value: "http://h",
      sources: [{ where: "main.yaml:2:10", value: "${policy_base_url}", won: true }],
      references: [
        {
          path: "policy_base_url",
          value: "http://h",
          sources: [{ where: "env.yaml:1:18", value: "http://h", won: true }],
        },
      ],
    });
    expect(config.explain("t.n").sources).toEqual([{ where: "command line: --flag", value: 1, won: true }]);
  });

  it("hides secrets of a masked config, including those of the command line", async () => {
    const config = await resolve(
      { "main.yaml": "x_key: one\nbox: {a_token: two, fine: 3}\n" },
      { overrides: ["++x_key=three"], hideSecrets: true },
    );
    expect(JSON.stringify([config.explain("x_key"), config.explain("box")])).not.toMatch(/one|two|three/);
    expect(config.explain("x_key").sources.at(-1)).toEqual({
      where: "command line: ++x_key",
      value: "****",
      won: true,
    });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readConfigText } from "../../config/read-config-file.ts";
import { loadSubmitFile, readSubmitConfig } from "./read-submit-config.ts";

const COMPLETE = `
compute:
  cluster: {type: slurm, account: acct}
services:
  policy: {type: vllm, container: vllm:latest, model: org/model}
driver:
  policy_model: policy
  benchmarks:
    gpqa: {run: {split: benchmark}}
job: {output_path: /jobs}
`;

const read = (text: string) =>
  readSubmitConfig(readConfigText(text, { kind: "file", name: "jobs.yaml" }), "jobs.yaml");
/** The messages about `COMPLETE` with parts of it replaced. */
const problemsOf = (...changes: [string, string][]) => {
  const text = changes.reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replace(from, to);
  }, COMPLETE);
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("readSubmitConfig", () => {
  it("fills in defaults", () => {
    const { services, driver, compute } = read(COMPLETE);
    expect(services.get("policy")).toMatchObject({
      port: 8000,
      tensor_parallel_size: 1,
      number_of_instances: 1,
      trust_remote_code: false,
    });
    const { account, hostname, walltime } = compute;
    expect({ account, hostname, walltime }).toEqual({ account: "acct" });
    expect(driver.container).toBe("python:3.12");
  });

  it("sets the policy model of the run", () => {
    expect(
      read(COMPLETE.replace("org/model", "org/model, port: 9001")).driver.benchmarks.get("gpqa")?.run,
    ).toEqual([
      "+split=benchmark",
      "+policy_base_url=http://localhost:9001/v1",
      "+policy_model_name=org/model",
      "+policy_api_key=dummy",
    ]);
    expect(read(COMPLETE.replace("  policy_model: policy\n", "")).driver.benchmarks.get("gpqa")?.run).toEqual(
      ["+split=benchmark"],
    );
  });

  it.each(["policy_base_url", "policy_model_name", "policy_api_key"])(
    "rejects %s beside a policy model",
    (key) => {
      const message = problemsOf(["split: benchmark", `${key}: x`]);
      expect(message).toMatch(
        /jobs\.yaml:\d+:\d+: driver\.benchmarks\.gpqa\.run\.policy_\w+: is set by driver\.policy_model/,
      );
    },
  );

  it("rejects an output path for a run, because the job sets it", () => {
    expect(problemsOf(["split: benchmark", "output_jsonl_fpath: x"])).toContain("is set by the job");
  });

  it.each([
    [
      "unknown keys",
      "account: acct",
      "account: acct, acount: 1",
      "unknown key 'acount'. Did you mean 'account'?",
    ],
    ["unknown keys at the top", "job:", "jobs: {}\njob:", "unknown key 'jobs'. Did you mean 'job'?"],
    ["missing keys", "account: acct", "walltime: '1'", "compute.cluster: account is missing"],
    [
      "other schedulers",
      "type: slurm",
      "type: slurmm",
      "'slurmm' is not one of slurm. Did you mean 'slurm'?",
    ],
    ["other services", "type: vllm", "type: vlm", "'vlm' is not one of vllm, ray. Did you mean 'vllm'?"],
    [
      "unknown services",
      "policy_model: policy",
      "policy_model: polcy",
      "no service 'polcy'. Did you mean 'policy'?",
    ],
    [
      "services without a model",
      "type: vllm, container: vllm:latest, model: org/model",
      "type: ray, container: c",
      "serves no model (type ray)",
    ],
    ["keys of another type", "type: vllm", "type: ray", "unknown key 'model'"],
    ["numbers for texts", "account: acct", "account: 17", "must be a text; put it in quotes"],
    [
      "texts for numbers",
      "org/model}",
      "org/model, tensor_parallel_size: many}",
      "must be a whole number of at least 1",
    ],
    ["invalid ports", "org/model}", "org/model, port: 70000}", "must be a whole number from 1 to 65535"],
    [
      "no instances",
      "org/model}",
      "org/model, number_of_instances: 0}",
      "must be a whole number of at least 1",
    ],
    [
      "a backend for one instance",
      "org/model}",
      "org/model, distributed_backend: {type: mp}}",
      "only has a meaning with",
    ],
    [
      "unknown placements",
      "org/model}",
      "org/model, placement: clster}",
      "no compute 'clster'. Did you mean 'cluster'?",
    ],
    ["no benchmarks", "gpqa: {run: {split: benchmark}}", "{}", "at least one is needed"],
    [
      "names that leave the directory",
      "gpqa:",
      "../gpqa:",
      "the name of a benchmark must be made of letters",
    ],
    ["a service called driver", "policy: {type", "driver: {type", "cannot be called 'driver'"],
    [
      "invalid names of variables",
      "org/model}",
      "org/model, env: {A-B: x}}",
      "must be the name of an environment variable",
    ],
    ["mounts with commas", "org/model}", "org/model, mounts: ['/a,/b']}", "must be a mount"],
    ["directives of several lines", "account: acct", 'account: "a\\nrm -rf /"', "must be a text of one line"],
    [
      "options of several lines",
      "account: acct",
      'account: a, extra_args: {comment: "a\\nb"}',
      "must be a text of one line",
    ],
    [
      "invalid options",
      "account: acct",
      "account: a, extra_args: {--wrap: x}",
      "must be the long name of an sbatch option",
    ],
    [
      "hosts that are options",
      "account: acct",
      "account: a, hostname: -oProxyCommand=x",
      "must be the name of a host",
    ],
    ["invalid times", "account: acct", "account: a, walltime: tomorrow", 'must be a time such as "01:30:00"'],
    ["relative outputs on another machine", "account: acct}", "account: a, hostname: login}\n# ", ""],
  ])("rejects %s", (_, from, to, expected) => {
    const message =
      expected === ""
        ? problemsOf([from, "account: a, hostname: login}"], ["/jobs", "jobs"])
        : problemsOf([from, to]);
    expect(message).toMatch(/jobs\.yaml:\d+:\d+/);
    expect(message).toContain(expected === "" ? "must begin with '/'" : expected);
  });

  it("requires exactly one compute", () => {
    expect(
      problemsOf([
        "cluster: {type: slurm, account: acct}",
        "a: {type: slurm, account: x}\n  b: {type: slurm, account: x}",
      ]),
    ).toContain("must have exactly one entry, has 2: a, b");
  });

  it("rejects too many GPUs and warns about idle ones", () => {
    const pools = (gpus: number, service: string) =>
      COMPLETE.replace(
        "account: acct",
        `account: acct, node_pools: {p: {partition: x, gpus_per_node: ${gpus}}}`,
      ).replace("org/model}", `org/model, ${service}}`);
    expect(() => read(pools(4, "tensor_parallel_size: 2, number_of_instances: 4"))).toThrow("needs 8 GPUs");
    expect(read(pools(8, "tensor_parallel_size: 4")).warnings).toEqual([
      expect.stringContaining("uses 4 of the 8 GPUs"),
    ]);
    expect(read(pools(8, "tensor_parallel_size: 8")).warnings).toEqual([]);
  });

  it("rejects two services on one port", () => {
    expect(problemsOf(["driver:", "  judge: {type: vllm, container: c, model: m}\ndriver:"])).toContain(
      "has the same port as 'policy'",
    );
  });

  it("reports all problems together", () => {
    expect(
      problemsOf(["account: acct", "acount: acct"], ["org/model", "org/model, prt: 1"]).split("\n"),
    ).toHaveLength(4);
  });
});

describe("loadSubmitFile", () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "submit-"));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it("merges overrides into the file and resolves interpolations", () => {
    const file = path.join(directory, "jobs.yaml");
    writeFileSync(file, COMPLETE.replace("org/model", "org/model, tensor_parallel_size: '${oc.env:TP}'"));
    const words = [
      "+driver.benchmarks.gpqa.run.limit=5",
      "job.output_path=/elsewhere",
      "++compute.cluster.walltime=02:00:00",
    ];
    const config = readSubmitConfig(loadSubmitFile(file, words, { TP: "4" }), file);
    expect(config.services.get("policy")).toMatchObject({ tensor_parallel_size: 4 });
    expect(config.outputPath).toBe("/elsewhere");
    expect(config.compute.walltime).toBe("02:00:00");
    expect(config.driver.benchmarks.get("gpqa")?.run).toContain("+limit=5");
    expect(() => readSubmitConfig(loadSubmitFile(file, ["driver.polcy_model=x"], { TP: "4" }), file)).toThrow(
      "command line (++driver.polcy_model): driver: unknown key 'polcy_model'. Did you mean 'policy_model'?",
    );
    expect(() => loadSubmitFile(file, ["~driver"], {})).toThrow("set them to null");
    expect(() => loadSubmitFile(path.join(directory, "none.yaml"), [], {})).toThrow(
      "does not exist (--config)",
    );
  });
});

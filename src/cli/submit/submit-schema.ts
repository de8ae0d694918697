import { z } from "zod";
import {
  block,
  blocks,
  boolean,
  choiceSchema,
  integerSchema,
  notOneOf,
  optionalSchema,
  orDefault,
  type TextRule,
  textListSchema,
  textSchema,
  textsSchema,
} from "./schema-parts.ts";
import { walltimeSeconds } from "./slurm-directives.ts";

// upstream: orchestration/api.py
const DEFAULT_CONTAINER = "python:3.12";
const DEFAULT_REPOSITORY = "https://github.com/NVIDIA-NeMo/gym";
const MAX_PORT = 65_535;
/** The default health check. Loading a large model takes minutes. */
export const DEFAULT_READINESS = { path: "/health", port: undefined, timeout_seconds: 1_800 };

/** Names become directories, log files and parts of job names. */
const NAME: TextRule = [/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "made of letters, digits, '.', '_' and '-'"];
const ENV_NAME: TextRule = [/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable"];
/** A comma separates mounts. */
const MOUNT: TextRule = [
  /^(?!:)[^\p{Cc},]+$/u,
  "a mount: source, source:target or source:target:flags, without commas",
];
/** A host with a leading dash would be an option of ssh. */
const HOST: TextRule = [/^[A-Za-z0-9_][A-Za-z0-9_.@:%-]*$/, "the name of a host, or user@host"];
/** Options of sbatch, without their dashes. */
const OPTION: TextRule = [/^[a-z][a-z0-9-]*$/, "the long name of an sbatch option, without dashes"];
const WALLTIME: TextRule = [/^[0-9]+(?:[-:][0-9]+)*$/, 'a time such as "01:30:00" or "1-12:00:00"'];
const GIT_REF: TextRule = [/^(?!-)[^\p{Cc}\s]+$/u, "a branch, tag or commit"];
const GIT_URL: TextRule = [/^(?!-)[^\p{Cc}\s]+$/u, "an address that git can clone"];
const URL_PATH: TextRule = [/^\/[^\p{Cc}\s]*$/u, "a path that begins with '/'"];
const BROKER: TextRule = [
  /^(?:nats|tls):\/\/[^\s@]+$/,
  "the address of a broker without a login, such as nats://host:4222",
];

const named = <T extends z.ZodType>(what: string, schema: T) =>
  blocks(schema, `the name of a ${what} must be ${NAME[1]}`, NAME[0]);

/** Directives are comments of the script. A line break in a value would end the comment. */
const sbatchOptions = textsSchema(OPTION, (value) =>
  /\p{Cc}/u.test(value) ? "must be a text of one line" : undefined,
);

const anyMapping = optionalSchema(z.record(z.string(), z.unknown(), { error: "must be a mapping" }));
const environment = { env: textsSchema(ENV_NAME), mounts: textListSchema(MOUNT) };
const count = orDefault(integerSchema(1), 1);

const HealthCheck = block({
  path: orDefault(textSchema(URL_PATH), DEFAULT_READINESS.path),
  port: optionalSchema(integerSchema(1, MAX_PORT)),
  timeout_seconds: orDefault(integerSchema(1), DEFAULT_READINESS.timeout_seconds),
});

const serviceKeys = {
  placement: optionalSchema(textSchema()),
  container: textSchema(),
  ...environment,
  health_check: optionalSchema(HealthCheck),
};

/** Without a health check, the job does not wait for Ray. */
const Ray = block({ type: z.literal("ray"), ...serviceKeys }).refine(
  ({ health_check: check }) => check === undefined || check.port !== undefined,
  { path: ["health_check"], error: "port is missing" },
);

/** Several instances use the data parallelism of vLLM, which has one backend so far. */
const Vllm = block({
  type: z.literal("vllm"),
  ...serviceKeys,
  model: textSchema(),
  port: orDefault(integerSchema(1, MAX_PORT), 8_000),
  tensor_parallel_size: count,
  pipeline_parallel_size: count,
  number_of_instances: count,
  trust_remote_code: orDefault(boolean, false),
  distributed_backend: optionalSchema(block({ type: optionalSchema(choiceSchema(["mp"])) })),
}).refine((service) => service.distributed_backend === undefined || service.number_of_instances > 1, {
  path: ["distributed_backend"],
  error: "only has a meaning with number_of_instances above 1",
});

const Service = z.discriminatedUnion("type", [Vllm, Ray], {
  error: ({ code, input }) =>
    code === "invalid_union"
      ? notOneOf((input as { type?: unknown }).type, ["vllm", "ray"])
      : "must be a mapping",
});

const NodePool = block({
  partition: textSchema(),
  nodes: count,
  ntasks_per_node: count,
  gpus_per_node: optionalSchema(integerSchema(0)),
  extra_args: sbatchOptions,
});

const Compute = block({
  type: choiceSchema(["slurm"]),
  account: textSchema(),
  /** The login node to submit on. Absent: this machine. */
  hostname: optionalSchema(textSchema(HOST)),
  walltime: optionalSchema(textSchema(WALLTIME)),
  node_pools: named("node pool", NodePool),
  extra_args: sbatchOptions,
});

/** An array of jobs that take rollouts from a broker (`gym worker`). */
const Workers = block({
  count,
  queue: textSchema(BROKER),
  partition: optionalSchema(textSchema()),
  walltime: orDefault(textSchema(WALLTIME), "04:00:00"),
  /** A worker takes no new rollouts for this long before the end of its walltime. */
  drain_seconds: orDefault(integerSchema(1), 300),
  /** A worker ends after this time without rollouts. */
  idle_seconds: orDefault(integerSchema(1), 600),
  concurrency: optionalSchema(integerSchema(1)),
  container: optionalSchema(textSchema()),
  ...environment,
  extra_args: sbatchOptions,
}).superRefine(({ walltime, drain_seconds }, context) => {
  if (walltimeSeconds(walltime) <= drain_seconds)
    context.addIssue({
      code: "custom",
      path: ["drain_seconds"],
      message: `must be less than the walltime (${walltime})`,
    });
});

const Driver = block({
  container: orDefault(textSchema(), DEFAULT_CONTAINER),
  gym_install: optionalSchema(
    block({ repo: orDefault(textSchema(GIT_URL), DEFAULT_REPOSITORY), ref: textSchema(GIT_REF) }),
  ),
  policy_model: optionalSchema(textSchema()),
  benchmarks: named("benchmark", block({ prepare: anyMapping, run: anyMapping })),
  ...environment,
});

/** The keys of a submit file; docs/reference/submit.md describes each. */
export const SubmitFile = block({
  compute: z.record(
    z.string(),
    z.preprocess((value) => value ?? {}, Compute),
    { error: "must be a mapping" },
  ),
  services: named("service", Service),
  driver: Driver,
  workers: optionalSchema(Workers),
  job: block({ output_path: textSchema() }),
});

export type SubmitFile = z.output<typeof SubmitFile>;
export type Service = z.output<typeof Service>;
export type VllmService = z.output<typeof Vllm>;
export type Compute = z.output<typeof Compute>;
export type NodePool = z.output<typeof NodePool>;
export type Workers = z.output<typeof Workers>;

import type { BlockReader } from "./block-reader.ts";
import type { HealthCheck, Service } from "./submit-config.ts";

/** Names become directories, log files and parts of job names. */
export const NAME = [/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "made of letters, digits, '.', '_' and '-'"] as const;
export const ENV_NAME = [/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable"] as const;
/** A comma would begin the next mount. */
export const MOUNT = [
  /^(?!:)[^\p{Cc},]+$/u,
  "a mount: source, source:target or source:target:flags, without commas",
] as const;

const MAX_PORT = 65_535;
/** Loading a large model takes minutes. */
const READY_SECONDS = 1_800;
/** `logs/driver.log` is the driver's. */
const RESERVED_NAME = "driver";

export function readService(name: string, block: BlockReader): Service | undefined {
  if (!NAME[0].test(name)) block.problem(undefined, `the name of a service must be ${NAME[1]}`);
  if (name === RESERVED_NAME) block.problem(undefined, "a service cannot be called 'driver'");
  const type = block.choice("type", ["vllm", "ray"]);
  const base = {
    container: block.text("container", { required: true }),
    env: block.texts("env", ENV_NAME),
    mounts: block.textList("mounts", MOUNT),
  };
  if (type === "ray") return { type, ...base, healthCheck: readHealthCheck(block, undefined) };
  const port = block.integer("port", { default: 8_000, minimum: 1, maximum: MAX_PORT });
  const numberOfInstances = block.integer("number_of_instances", { default: 1, minimum: 1 });
  readBackend(block, numberOfInstances);
  const service = {
    ...base,
    model: block.text("model", type === "vllm" ? { required: true } : {}) ?? "",
    port,
    tensorParallelSize: block.integer("tensor_parallel_size", { default: 1, minimum: 1 }),
    pipelineParallelSize: block.integer("pipeline_parallel_size", { default: 1, minimum: 1 }),
    numberOfInstances,
    trustRemoteCode: block.boolean("trust_remote_code", false),
    healthCheck: readHealthCheck(block, port),
  };
  return type && { type, ...service };
}

/** Every vLLM answers at /health; other services are only checked when the file says how. */
function readHealthCheck(block: BlockReader, servicePort: number | undefined): HealthCheck | undefined {
  const check = block.block("health_check");
  if (!check)
    return servicePort === undefined
      ? undefined
      : { path: "/health", port: servicePort, timeoutSeconds: READY_SECONDS };
  const path = check.text("path", {
    default: "/health",
    pattern: [/^\/[^\p{Cc}\s]*$/u, "a path that begins with '/'"],
  });
  const port = check.integer("port", { minimum: 1, maximum: MAX_PORT }) ?? servicePort;
  if (port === undefined) check.problem(undefined, "port is missing");
  const timeoutSeconds = check.integer("timeout_seconds", { default: READY_SECONDS, minimum: 1 });
  check.finish();
  return { path, port: port ?? 0, timeoutSeconds };
}

/** Several instances run as vLLM's own data parallelism; there is nothing else to choose yet. */
function readBackend(block: BlockReader, numberOfInstances: number): void {
  const backend = block.block("distributed_backend");
  if (!backend) return;
  if (backend.get("type")) backend.choice("type", ["mp"]);
  backend.finish();
  if (numberOfInstances === 1)
    block.problem("distributed_backend", "only has a meaning with number_of_instances above 1");
}

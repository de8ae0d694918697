import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { HttpError, type JsonObject } from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import { isObject } from "nemo-gym/python";
import { openSandbox, type SandboxServer, shellQuote } from "nemo-gym/sandbox";
import { parseYamlValue } from "nemo-gym/verify";

const WORKSPACE = "/code";
const ARCHIVE = "/tmp/gym_workspace.tar";
const STEP_SECONDS = 120;
const OUTPUT_CHARACTERS = 8192;

export interface ServiceResult {
  service: string;
  exit_code: number;
  stderr: string;
}
/** 0 if all services ended with 0; otherwise the first other exit code. */
export interface HarnessResult {
  exitCode: number;
  stderr: string;
  services: ServiceResult[];
}

export interface HarnessTask {
  /** Files of the task and of the answer, by path. */
  files: Record<string, string>;
  images: Record<string, string | null | undefined>;
  timeoutSeconds: number;
  signal: AbortSignal;
}

interface Service {
  name: string;
  image: string;
  command: string;
  directory: string;
  env: Record<string, string>;
  /** Places outside of the workspace that a service expects: path in the container to path in the workspace. */
  links: [place: string, folder: string][];
}

/** Runs the services of the task's docker-compose.yml one after another, each in a sandbox with the files of the one before. */
export async function runHarness(task: HarnessTask, server: SandboxServer): Promise<HarnessResult> {
  const compose = task.files["docker-compose.yml"];
  if (compose === undefined) throw new HttpError(422, "harness_files has no docker-compose.yml.");
  const local = await mkdtemp(path.join(tmpdir(), "nemo-gym-cvdp-"));
  const archive = path.join(local, "workspace.tar");
  const services: ServiceResult[] = [];
  try {
    for (const [index, service] of servicesOf(compose, task).entries())
      services.push(
        await runService(service, index === 0 ? task.files : undefined, { task, server, archive }),
      );
  } finally {
    await rm(local, { recursive: true, force: true });
  }
  return {
    exitCode: services.find(({ exit_code }) => exit_code !== 0)?.exit_code ?? 0,
    stderr: services
      .map(({ stderr }) => stderr)
      .filter(Boolean)
      .join("\n"),
    services,
  };
}

async function runService(
  service: Service,
  files: Record<string, string> | undefined,
  { task, server, archive }: { task: HarnessTask; server: SandboxServer; archive: string },
): Promise<ServiceResult> {
  const { signal } = task;
  const spec = { image: service.image, env: service.env };
  const sandbox = await openSandbox(server, spec, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw sandboxUnavailable(error);
  });
  const step = async (command: string, timeoutSeconds: number) => {
    const result = await sandbox.exec(command, { timeoutSeconds, signal });
    if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
    return result;
  };
  try {
    if (files === undefined) {
      await sandbox.upload(archive, ARCHIVE, { signal });
      await step(`mkdir -p ${WORKSPACE} && tar -C ${WORKSPACE} -xf ${ARCHIVE}`, STEP_SECONDS);
    } else
      for (const [name, text] of Object.entries(files))
        await sandbox.writeText(path.posix.join(WORKSPACE, name), text, { signal });
    const links = service.links.map(([place, folder]) => {
      const [from, to] = [shellQuote(path.posix.join(WORKSPACE, folder)), shellQuote(place)];
      return `mkdir -p ${from} ${shellQuote(path.posix.dirname(place))} && ln -sfn ${from} ${to}`;
    });
    const directory = shellQuote(service.directory);
    await step([...links, `mkdir -p ${directory}`].join(" && "), STEP_SECONDS);
    const result = await step(`cd ${directory} && ${service.command}`, task.timeoutSeconds);
    await step(`tar -C ${WORKSPACE} -cf ${ARCHIVE} .`, STEP_SECONDS);
    await sandbox.download(ARCHIVE, archive, { signal });
    const stderr = result.error_type === "timeout" ? "The time limit was exceeded." : (result.stderr ?? "");
    return { service: service.name, exit_code: result.return_code, stderr: stderr.slice(-OUTPUT_CHARACTERS) };
  } finally {
    await sandbox.stop();
  }
}

function servicesOf(compose: string, { files, images }: HarnessTask): Service[] {
  let text = compose;
  for (const [placeholder, image] of Object.entries(images)) {
    if (image) text = text.replaceAll(placeholder, image);
    else if (text.includes(placeholder))
      throw new HttpError(
        422,
        `The task needs the image for ${placeholder}, which the config does not name.`,
      );
  }
  const parsed: unknown = parseYamlValue(text);
  const services = isObject(parsed) ? parsed["services"] : undefined;
  if (!isObject(services)) throw new HttpError(422, "docker-compose.yml has no services.");
  return Object.entries(services).map(([name, value]) => {
    const service = isObject(value) ? value : {};
    if (typeof service["image"] !== "string") throw new HttpError(422, `The service '${name}' has no image.`);
    const { command } = service;
    return {
      name,
      image: service["image"],
      command: Array.isArray(command)
        ? command.map((word) => shellQuote(String(word))).join(" ")
        : String(command ?? "true"),
      directory: typeof service["working_dir"] === "string" ? service["working_dir"] : WORKSPACE,
      env: { ...fileVariables(service["env_file"], files), ...variables(service["environment"]) },
      links: linksOf(service["volumes"]),
    };
  });
}

function linksOf(volumes: unknown): [string, string][] {
  return (Array.isArray(volumes) ? volumes : []).flatMap((volume): [string, string][] => {
    const [folder = "", place = ""] = String(volume).split(":");
    // The workspace itself is there already.
    const isInside = place === WORKSPACE || place.startsWith(`${WORKSPACE}/`);
    return folder.startsWith(".") && place.startsWith("/") && !isInside
      ? [[place.replace(/\/$/, ""), folder]]
      : [];
  });
}

function variables(value: unknown): Record<string, string> {
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text ?? "")]));
  return Object.fromEntries((Array.isArray(value) ? value : []).flatMap((line) => assignment(String(line))));
}

function fileVariables(value: unknown, files: JsonObject): Record<string, string> {
  const names = (Array.isArray(value) ? value : [value]).filter((name) => typeof name === "string");
  const lines = names.flatMap((name) => String(files[path.posix.normalize(name)] ?? "").split("\n"));
  return Object.fromEntries(lines.flatMap(assignment));
}

function assignment(line: string): [string, string][] {
  const [, name, text] = /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
  return name === undefined ? [] : [[name, (text ?? "").replace(/^(["'])(.*)\1$/, "$2")]];
}

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { program } from "../src/cli/commands/table.ts";
import { repository } from "./gym-process.ts";

const folder = path.join(repository, "deploy");
const read = (file: string) => readFileSync(path.join(folder, file), "utf8");
const manifests = readdirSync(path.join(folder, "kubernetes")).filter(
  (file) => file !== "kustomization.yaml",
);

interface ComposeService {
  build?: { context: string; dockerfile: string };
  depends_on?: Record<string, { condition: string }>;
  deploy?: { replicas: number };
  environment?: Record<string, string>;
  healthcheck?: object;
  ports?: unknown;
  volumes?: string[];
}

/** Keys of the compose specification that the file uses; any other key is probably misspelt. */
const COMPOSE_KEYS = [
  ...["image", "build", "command", "environment", "depends_on", "volumes", "healthcheck", "deploy"],
  ...["stop_grace_period", "security_opt"],
];

/** The Python with `kubernetes-validate`, which contains the schemas of Kubernetes; CI installs it. */
const python = process.env["NEMO_GYM_TEST_PYTHON"] ?? "python3";
const hasValidator = spawnSync(python, ["-c", "import kubernetes_validate"]).status === 0;
if (!hasValidator)
  console.warn("The manifests are not validated: kubernetes-validate is not installed (pip).");

describe("deploy", () => {
  it.skipIf(!hasValidator && !process.env["CI"])("has manifests that Kubernetes accepts", () => {
    const files = manifests.map((file) => path.join(folder, "kubernetes", file));
    const { status, stdout, stderr } = spawnSync(
      python,
      ["-m", "kubernetes_validate", "--strict", "--kubernetes-version", "1.31", ...files],
      { encoding: "utf8" },
    );
    expect(status, stdout + stderr).toBe(0);
  });

  it("lists every manifest in the kustomization", () => {
    expect(parse(read("kubernetes/kustomization.yaml")).resources.sort()).toEqual(manifests.sort());
  });

  it("starts commands that exist, with the broker of the same file", () => {
    const commands: string[][] = Object.values<{ command?: string[]; image?: string }>(
      parse(read("compose.yaml"), { merge: true }).services,
    )
      .filter(({ image }) => image === "nemo-gym")
      .map(({ command }) => command ?? []);
    for (const file of manifests)
      for (const document of parseAllDocuments(read(`kubernetes/${file}`))) {
        const { spec } = document.toJS() as {
          spec?: { template?: { spec: { containers: { image: string; args: string[] }[] } } };
        };
        for (const { image, args } of spec?.template?.spec.containers ?? [])
          if (image === "nemo-gym") commands.push(args);
      }
    expect(commands).toHaveLength(4);
    for (const [group, name] of commands) {
      const known = program.commands.some((each) =>
        each.group === undefined ? each.name === group : each.group === group && each.name === name,
      );
      expect(known, `${group} ${name}`).toBe(true);
    }
  });

  it("has a consistent compose file", () => {
    const { services, volumes } = parse(read("compose.yaml"), { merge: true }) as {
      services: Record<string, ComposeService>;
      volumes: Record<string, unknown>;
    };
    expect(Object.keys(services).sort()).toEqual(["broker", "collector", "worker"]);
    expect(services["worker"]?.deploy?.replicas).toBe(2);
    for (const [name, service] of Object.entries(services)) {
      for (const key of Object.keys(service)) expect(COMPOSE_KEYS, `${name}.${key}`).toContain(key);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(condition).toBe("service_healthy");
        expect(services[other]?.healthcheck, `${name} waits for the health of ${other}`).toBeDefined();
      }
      for (const mount of service.volumes ?? []) expect(volumes).toHaveProperty(mount.split(":")[0] ?? "");
      // The broker is not open to the network of the host, and its password is not in the file.
      expect(service.ports).toBeUndefined();
      if (name !== "broker") expect(service.environment?.["NATS_PASSWORD"]).toMatch(/^\$\{NATS_PASSWORD:\?/);
    }
    const { build } = services["worker"] ?? {};
    expect(existsSync(path.resolve(folder, build?.context ?? "", build?.dockerfile ?? ""))).toBe(true);
  });

  it("copies only existing files into the image", () => {
    const instructions = read("Dockerfile")
      .replaceAll("\\\n", " ")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const words = new Set(instructions.map((line) => line.split(" ")[0]));
    expect([...words].sort()).toEqual(["CMD", "COPY", "ENTRYPOINT", "FROM", "RUN", "USER", "WORKDIR"]);
    for (const line of instructions.filter((each) => /^COPY (?!--from)/.test(each)))
      for (const source of line.split(" ").slice(1, -1))
        expect(existsSync(path.join(repository, source)), source).toBe(true);
    // The targets of the entry point's links are in the package.
    expect(existsSync(path.join(repository, "bin/gym.js"))).toBe(true);
    // Later instructions would run as root again if a USER followed.
    expect(instructions.filter((line) => line.startsWith("USER"))).toEqual(["USER gym"]);
  });

  it("runs containers as an unprivileged user", () => {
    const dockerfile = read("Dockerfile");
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^USER gym$/m);
  });
});

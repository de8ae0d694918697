import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
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

/** The Python that has `kubernetes-validate`, which holds the schemas of Kubernetes; CI installs it. */
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

  it("runs containers as a user of their own", () => {
    const dockerfile = read("Dockerfile");
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^USER gym$/m);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { installRoot } from "../../../config/paths.ts";
import { CERTIFICATE_FILE, digestsOf, readCertificates, staleParts } from "./certificate.ts";
import { currentDigests } from "./stale.ts";

const root = installRoot();
const servers = path.join(root, "resources_servers");
/** A score may be low, but `gym env certify` keeps it from falling; times depend on the load of the machine. */
const NOT_REQUIRED = ["mutation-score", "verification-fast"];
const certified = readdirSync(servers).filter((name) =>
  existsSync(path.join(servers, name, CERTIFICATE_FILE)),
);

it.each(certified)("the certificate of %s is current; else run `gym env certify --stale`", (name) => {
  const directory = path.join(servers, name);
  for (const [config, certificate] of Object.entries(readCertificates(directory))) {
    const configFile = path.join(directory, "configs", `${config}.yaml`);
    const [now] = currentDigests({ configFile, cwd: root, env: {}, installRoot: root, limit: 5 });
    expect(now && staleParts(certificate, now.digests)).toEqual([]);
    const failed = certificate.checks.filter(({ status }) => status === "failed").map(({ check }) => check);
    expect(failed.filter((check) => !NOT_REQUIRED.includes(check))).toEqual([]);
  }
});

it("is stale after a change of the code, the rows or the settings, but not of tests", () => {
  const base = mkdtempSync(path.join(tmpdir(), "gym-certificate-"));
  const directory = path.join(base, "quiz");
  try {
    for (const folder of ["quiz", "library"]) mkdirSync(path.join(base, folder));
    const write = (file: string, text: string) => writeFileSync(path.join(directory, file), text);
    for (const file of ["app.ts", "rows.jsonl", "quiz.yaml", "app.test.ts"]) write(file, "1");
    const now = () =>
      digestsOf(directory, path.join(directory, "quiz.yaml"), path.join(directory, "rows.jsonl"));
    const rest = { server: "quiz", level: "semantic", passed: true, mutation_score: 1, checks: [] } as const;
    const certificate = { ...rest, checks: [], digests: now() };
    write("app.test.ts", "2");
    expect(staleParts(certificate, now())).toEqual([]);
    write("../library/one.ts", "1");
    write("app.ts", 'import { one } from "../library/one.ts";');
    write("audit.yaml", "{}");
    expect(staleParts(certificate, now())).toEqual(["code", "config"]);
    const later = { ...certificate, digests: now() };
    write("../library/one.ts", "2");
    expect(staleParts(later, now())).toEqual(["code"]);
    write("rows.jsonl", "2");
    expect(staleParts(certificate, now())).toEqual(["code", "rows", "config"]);
    write(CERTIFICATE_FILE, "{}");
    expect(() => readCertificates(directory)).toThrow("is not a certificate");
  } finally {
    rmSync(base, { recursive: true });
  }
});

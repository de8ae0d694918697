import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { errorMessage } from "../../../base/errors.ts";
import { AuditError } from "../errors.ts";
import { CASES_FILE, GOLDEN_FILE } from "../verifier-cases/cases.ts";
import { levels } from "./levels.ts";

/** The certificates of a server, by the name of the config, in its folder. */
export const CERTIFICATE_FILE = "certificate.json";

const CheckEntry = z.strictObject({
  check: z.string(),
  level: z.enum(levels),
  status: z.enum(["passed", "failed", "waived", "skipped"]),
  measured: z.record(z.string(), z.unknown()).optional(),
  /** Why it was skipped or waived. */
  reason: z.string().optional(),
  evidence: z.array(z.unknown()).optional(),
  remedy: z.string().optional(),
});
export type CheckEntry = z.output<typeof CheckEntry>;

const Digests = z.strictObject({ code: z.string(), rows: z.string(), config: z.string() });
export type Digests = z.output<typeof Digests>;

const Certificate = z.strictObject({
  server: z.string(),
  level: z.enum(levels),
  passed: z.boolean(),
  /** Share of the faults that the tests of the verifier find. */
  mutation_score: z.number().nullable(),
  digests: Digests,
  checks: z.array(CheckEntry),
});
export type Certificate = z.output<typeof Certificate>;

const CertificateFile = z.strictObject({
  version: z.literal(1),
  certificates: z.record(z.string(), Certificate),
});
type CertificateFile = z.output<typeof CertificateFile>;

/** The digests of what a certificate is about. Tests and texts for people do not count. */
export function digestsOf(directory: string, configFile: string, rowsFile: string): Digests {
  const code = filesIn(directory)
    .filter((file) => /\.(?:ts|js|mjs|py)$/.test(file) && !/\.test\.ts$/.test(file))
    .map((file) => path.join(directory, file));
  const settings = ["audit.yaml", CASES_FILE, GOLDEN_FILE].map((file) => path.join(directory, file));
  return {
    code: digest(directory, withImports(code)),
    rows: digest(path.dirname(rowsFile), [rowsFile]),
    config: digest(path.dirname(configFile), [configFile, ...settings.filter((file) => existsSync(file))]),
  };
}

function digest(base: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${path.relative(base, file).replaceAll(path.sep, "/")}\n`);
    hash.update(readFileSync(file, "utf8").replaceAll("\r\n", "\n"));
  }
  return hash.digest("hex").slice(0, 16);
}

const RELATIVE_IMPORT = /\bfrom "(\.{1,2}\/[^"]+\.ts)"/g;

/** The files, and those that they import from other folders, such as libraries. */
function withImports(files: readonly string[]): string[] {
  const found = new Set(files);
  // The set grows while it is walked.
  for (const file of found) {
    if (!file.endsWith(".ts")) continue;
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(RELATIVE_IMPORT)) {
      const target = path.resolve(path.dirname(file), name);
      if (existsSync(target)) found.add(target);
    }
  }
  return [...found].sort();
}

const LEFT_OUT = new Set(["node_modules", "data", "configs", "tests", "dist"]);

function filesIn(directory: string, below = ""): string[] {
  return readdirSync(path.join(directory, below), { withFileTypes: true })
    .flatMap((entry) => {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (!entry.isDirectory()) return [name];
      return LEFT_OUT.has(entry.name) ? [] : filesIn(directory, name);
    })
    .sort();
}

/** The certificates of a folder; none if there is no file. */
export function readCertificates(directory: string): Readonly<Record<string, Certificate>> {
  const file = path.join(directory, CERTIFICATE_FILE);
  if (!existsSync(file)) return {};
  try {
    return CertificateFile.parse(JSON.parse(readFileSync(file, "utf8"))).certificates;
  } catch (error) {
    throw new AuditError(`${file} is not a certificate: ${errorMessage(error)}`, { cause: error });
  }
}

/** Puts a certificate into the file of a folder. Those of other configs stay. */
export function writeCertificate(directory: string, config: string, certificate: Certificate): string {
  const file = path.join(directory, CERTIFICATE_FILE);
  const others = readCertificates(directory);
  const sorted = Object.entries({ ...others, [config]: certificate }).sort(([a], [b]) => (a < b ? -1 : 1));
  const content: CertificateFile = { version: 1, certificates: Object.fromEntries(sorted) };
  try {
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
  } catch (error) {
    throw new AuditError(`${file} cannot be written: ${errorMessage(error)}. Give a folder with --output.`, {
      cause: error,
    });
  }
  return file;
}

/** How a certificate is shown in one line. */
export function certificateText({ level, checks, mutation_score: score }: Certificate): string {
  const count = (status: CheckEntry["status"]) => checks.filter((check) => check.status === status).length;
  const parts = (["failed", "passed", "waived"] as const).flatMap((status) =>
    count(status) > 0 ? [`${count(status)} ${status}`] : [],
  );
  const mutation = score === null ? "" : `, mutation score ${(score * 100).toFixed(1)} %`;
  return `level ${level}, checks: ${parts.join(", ")}${mutation}`;
}

/** Which parts changed since the certificate was written. */
export function staleParts(certificate: Certificate, now: Digests): string[] {
  return (Object.keys(now) as (keyof Digests)[]).filter((part) => certificate.digests[part] !== now[part]);
}

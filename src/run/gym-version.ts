import { readFileSync } from "node:fs";
import path from "node:path";

/** The version of the package, which every manifest records. */
export function gymVersion(installRoot: string): string {
  const manifest = JSON.parse(readFileSync(path.join(installRoot, "package.json"), "utf8")) as {
    version?: string;
  };
  return manifest.version ?? "unknown";
}

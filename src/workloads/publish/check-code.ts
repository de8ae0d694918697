import { readFileSync } from "node:fs";
import { WorkloadError } from "../../config/errors.ts";
import { candidatePaths } from "../../config/paths.ts";
import { existingScript } from "../../datasets/benchmarks/prepare-script.ts";
import { locateRolloutDriver } from "../../run/rollout-driver.ts";

/** A benchmark's prepare script must be there and define `prepare`; it is read, not run. */
export function checkPrepareScript(given: string, roots: readonly string[]): void {
  const file = candidatePaths(given, roots)
    .map((candidate) => existingScript(candidate))
    .find((candidate) => candidate !== undefined);
  if (file === undefined)
    throw new WorkloadError(`The prepare script ${given} does not exist under ${roots.join(", ")}.`);
  if (!definesFunction(readFileSync(file, "utf8"), "prepare", file.endsWith(".py")))
    throw new WorkloadError(`The prepare script ${file} defines no function 'prepare'.`);
}

/** `package.module:function` must name a function that exists. */
export function checkRolloutDriver(reference: string, roots: readonly string[]): void {
  const { file, name } = locateRolloutDriver(reference, roots);
  if (file === undefined) {
    const stem = reference.replace(/:.*/, "").replaceAll(".", "/");
    throw new WorkloadError(
      `The module of the rollout driver '${reference}' was not found: ${stem}.ts or .py.`,
    );
  }
  if (!definesFunction(readFileSync(file, "utf8"), name, file.endsWith(".py")))
    throw new WorkloadError(`The rollout driver '${reference}' is not defined in ${file}.`);
}

function definesFunction(source: string, name: string, python: boolean): boolean {
  if (python) return new RegExp(`^(?:async +)?def +${name} *\\(`, "m").test(source);
  return (
    new RegExp(`^export\\s+(?:async\\s+)?(?:function\\*?|const|let)\\s+${name}\\b`, "m").test(source) ||
    new RegExp(`^export\\s*\\{[^}]*\\b${name}\\b[^}]*\\}`, "m").test(source)
  );
}

import { SandboxSpecError } from "../../errors.ts";
import type { SandboxSpec } from "../../spec.ts";
import { SANDBOX_USER } from "./arguments.ts";

/** What this provider has no way to give. */
export function refuseUnsupported({ ports, resources, entrypoint, provider_options }: SandboxSpec): void {
  const wrong =
    (ports.length > 0 && "ports") ||
    (resources.gpu !== undefined && resources.gpu > 0 && "resources.gpu") ||
    (entrypoint !== undefined && "entrypoint") ||
    Object.keys(provider_options).map((key) => `provider_options.${key}`)[0];
  if (wrong)
    throw new SandboxSpecError(
      `The provider 'bubblewrap' has no '${wrong}': every command runs for itself, without a network. Use 'docker' for that.`,
    );
}

/** Names of the sandbox's own: whoever a command runs as, outside it has the rights of one and the same user. */
export function userNumber(user: string | number | undefined): number {
  if (user === undefined || user === "sandbox") return SANDBOX_USER;
  if (user === "root") return 0;
  const number = Number(user);
  if (Number.isInteger(number) && number >= 0 && number <= 65_534 && user !== "") return number;
  throw new SandboxSpecError(`The sandbox has no user '${user}'; it has 'sandbox', 'root' and numbers.`);
}

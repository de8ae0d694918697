import { redactor } from "../model-endpoint/redact.ts";
import { isCredentialKey } from "../secret-names.ts";

/** Makes a function that takes the credentials a config holds out of a text. */
export function configRedactor(config: unknown): (text: string) => string {
  const secrets = new Set<string>();
  collect(config, undefined, false, secrets);
  return redactor([...secrets]);
}

function collect(value: unknown, key: string | undefined, secret: boolean, found: Set<string>): void {
  if (typeof value === "string") {
    if (secret) found.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, undefined, secret, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value))
      collect(member, name, isCredentialKey(name, key), found);
  }
}

import { redactor } from "../../client/provider/redact.ts";

/** Keys whose values are credentials; `max_output_tokens` and `token_id_capture` are none. */
const SECRET_KEY =
  /(?:^|[_-])(?:api[_-]?keys?|key|token|secret|secrets|password|passwd|credentials?|authorization)$/i;

/** Makes a function that takes the credentials a config holds out of a text. */
export function configRedactor(config: unknown): (text: string) => string {
  const secrets = new Set<string>();
  collect(config, false, secrets);
  return redactor([...secrets]);
}

function collect(value: unknown, secret: boolean, found: Set<string>): void {
  if (typeof value === "string") {
    if (secret) found.add(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, secret, found);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) collect(member, SECRET_KEY.test(key), found);
  }
}

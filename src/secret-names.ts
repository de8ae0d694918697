/** What is printed instead of a secret. */
export const MASK = "****";

/**
 * Whether a key's name tells that its value is a secret; hides too much rather than too little. Below a key that ends in
 * `headers` the keys are names of HTTP headers.
 */
export function isSecretKey(key: unknown, parent?: unknown): boolean {
  if (typeof key !== "string") return false;
  if (key.includes("token") || key.includes("key")) return true;
  return isHeaderMap(parent) && isSecretHeader(key);
}

/** Whether the keys below a key are names of HTTP headers: `default_headers`. */
export function isHeaderMap(key: unknown): boolean {
  return typeof key === "string" && /headers$/i.test(key);
}

const SECRET_HEADER = /key|token|secret|auth|cookie|password|credential|signature/i;

/** Whether a header's name tells that its value is a secret: `Authorization`, `Cookie`, `X-Api-Key`, … */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name);
}

/**
 * Keys whose values are credentials: `policy_api_key`, `hf_token`, `Authorization`, `password`, … but not `max_output_tokens` or
 * `tokenizer`, which are settings.
 */
const CREDENTIAL =
  /(?:^|[_-])(?:api[_-]?keys?|key|token|secret|secrets|password|passwd|credentials?|authorization|cookie)$/i;

/** Whether a value is a credential, by its key; stricter than `isSecretKey`, for data that must stay readable. */
export function isCredentialKey(key: string, parent?: unknown): boolean {
  return CREDENTIAL.test(key) || (isHeaderMap(parent) && isSecretHeader(key));
}

/** A mapping written on the command line that holds a credential: `{Authorization: …}`. */
const INNER_CREDENTIAL = /[\w-]*(?:key|token|secret|auth|cookie|password|credential)[\w-]*["']?\s*:/i;

/** A command line word for a message: the value of a secret key is hidden, and one that holds secrets. */
export function maskWord(word: string): string {
  const value = word.indexOf("=") + 1;
  if (value <= 0) return word;
  const [parent, key] = ["", ...word.slice(0, value - 1).split(".")].slice(-2);
  const hidden =
    isSecretKey(word.slice(0, value)) || isSecretKey(key, parent) || INNER_CREDENTIAL.test(word.slice(value));
  return hidden ? word.slice(0, value) + MASK : word;
}

const MASK = "****";

/**
 * Keys whose values must never reach a file: `policy_api_key`, `hf_token`, `Authorization`, `password`, … but not
 * `max_output_tokens` or `tokenizer`, which are settings.
 */
const secretKey =
  /(?:^|[_-])(?:api[_-]?keys?|key|token|secret|secrets|password|passwd|credentials?|authorization|cookie)$/i;

/** Whether a key's name tells that its value is a secret. */
export function isSecretName(key: string): boolean {
  return secretKey.test(key);
}

/** The same data with the values of secret keys replaced by `****`, in lists each element; nulls and empty texts stay. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      secretKey.test(key) ? masked(member) : maskSecrets(member),
    ]),
  );
}

function masked(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return value;
  return Array.isArray(value) ? value.map(masked) : MASK;
}

import { isCredentialKey, MASK } from "../../secret-names.ts";

/** The same data with the values of credentials replaced by `****`, in lists each element; nulls and empty texts stay. */
export function maskSecrets(value: unknown, parent?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      isCredentialKey(key, parent) ? masked(member) : maskSecrets(member, key),
    ]),
  );
}

function masked(value: unknown): unknown {
  if (value === null || value === undefined || value === "") return value;
  return Array.isArray(value) ? value.map(masked) : MASK;
}

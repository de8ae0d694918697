import { isSecretHeader } from "../secrets.ts";

/** The values of headers that hold secrets. */
export function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []));
}

/** Headers without secrets, sorted by name. */
export function openHeaders(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers)
    .filter(([name]) => !isSecretHeader(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Header names in the form in which they are compared. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

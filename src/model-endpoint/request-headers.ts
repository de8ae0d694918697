import { isSecretHeader } from "../secrets.ts";

/** The values of headers that nobody may see. */
export function secretHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) ? [value] : []));
}

/** Those that hold no secrets, in one order. */
export function openHeaders(headers: Readonly<Record<string, string>>): [name: string, value: string][] {
  return Object.entries(headers)
    .filter(([name]) => !isSecretHeader(name))
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Header names in the form in which they are compared. */
export function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

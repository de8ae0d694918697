import { ScaffoldError } from "./errors.ts";

const NAME = /^[a-z][a-z0-9_]*$/;
const MAX_LENGTH = 64;

/** Refuses names that are not module names: they become folders, YAML keys, routes and parts of identifiers. */
export function checkName(name: string): string {
  if (NAME.test(name) && name.length <= MAX_LENGTH) return name;
  if (NAME.test(name)) {
    throw new ScaffoldError(
      `'${name.slice(0, MAX_LENGTH)}…' cannot be the name of a component: it has ${name.length} characters, ${MAX_LENGTH} are allowed.`,
    );
  }
  throw new ScaffoldError(
    `'${name}' cannot be the name of a component: use lower-case letters, digits and '_', beginning with a letter` +
      `${suggestion(name)}.`,
  );
}

function suggestion(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const candidate = words
    .join("_")
    .replace(/^[0-9_]+/, "")
    .slice(0, MAX_LENGTH);
  return NAME.test(candidate) ? `, such as '${candidate}'` : "";
}

/** `my_quiz` as a class-like name, `MyQuiz`. */
export function pascalCase(name: string): string {
  return name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

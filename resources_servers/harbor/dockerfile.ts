import { shellQuote } from "nemo-gym/sandbox";

/** The steps of a Dockerfile, in execution order. */
export interface Recipe {
  image: string | undefined;
  workdir: string | undefined;
  steps: RecipeStep[];
}

export type RecipeStep =
  | { kind: "run"; command: string; workdir: string; env: Record<string, string> }
  | { kind: "copy"; sources: string[]; target: string };

/** Instructions that describe how a container is started or displayed. Commands in a sandbox do not need them. */
const IRRELEVANT = new Set([
  "ARG",
  "CMD",
  "ENTRYPOINT",
  "EXPOSE",
  "HEALTHCHECK",
  "LABEL",
  "MAINTAINER",
  "STOPSIGNAL",
  "USER",
  "VOLUME",
]);

/**
 * Reads the Dockerfile instructions that can be executed in a running sandbox. Throws an error with the line for others:
 * several stages, patterns, remote sources, here-documents.
 */
export function readDockerfile(text: string): Recipe & { env: Record<string, string> } {
  let image: string | undefined;
  let workdir = "/";
  let shell: string | undefined;
  const env: Record<string, string> = {};
  const steps: RecipeStep[] = [];
  for (const { line, word, rest } of instructions(text)) {
    const refuse = (reason: string) => new Error(`Dockerfile, line ${line}: ${reason}`);
    if (word === "FROM") {
      if (image !== undefined) throw refuse("several stages are not supported");
      image = rest.replace(/^--\S+\s+/, "").split(/\s+/)[0];
    } else if (word === "WORKDIR") workdir = absolute(rest, workdir);
    else if (word === "ENV") Object.assign(env, variables(rest));
    else if (word === "RUN") {
      if (/^(--|<<)/.test(rest)) throw refuse(`'${rest.split(/\s/)[0]}' of RUN is not supported`);
      const command = shellOf(rest);
      // The exec form runs without a shell.
      const isShellForm = command === rest;
      steps.push({
        kind: "run",
        command: shell && isShellForm ? `${shell} ${shellQuote(rest)}` : command,
        workdir,
        env: { ...env },
      });
    } else if (word === "SHELL") {
      shell = shellOf(rest);
      if (shell === rest) throw refuse('SHELL needs a list such as ["/bin/bash", "-c"]');
    } else if (word === "COPY" || word === "ADD") {
      const words = rest.split(/\s+/).filter((part) => !/^--(chmod|chown|link)\b/.test(part));
      const [option] = words.filter((part) => part.startsWith("--"));
      if (option !== undefined) throw refuse(`${option} is not supported`);
      const target = words.pop() ?? "";
      if (words.length === 0) throw refuse(`${word} needs a source and a target`);
      const odd = words.find((source) => /[*?[]|^https?:|^git@|^\/|(^|\/)\.\.(\/|$)/.test(source));
      if (odd !== undefined) throw refuse(`the source '${odd}' is not a path below environment/`);
      const isFolder = target.endsWith("/") || target === "." || words.length > 1;
      steps.push({ kind: "copy", sources: words, target: absolute(target, workdir) + (isFolder ? "/" : "") });
    } else if (!IRRELEVANT.has(word)) throw refuse(`${word} is not supported`);
  }
  return { image, workdir: workdir === "/" ? undefined : workdir, steps, env };
}

/** Lines without comments; a line that ends with a backslash is joined with the next. */
function* instructions(text: string): Generator<{ line: number; word: string; rest: string }> {
  let pending = "";
  let first = 0;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (/^\s*#/.test(raw) || (pending === "" && raw.trim() === "")) continue;
    if (pending === "") first = index + 1;
    if (/\\\s*$/.test(raw)) {
      pending += raw.replace(/\\\s*$/, "");
      continue;
    }
    const [, word = "", rest = ""] = /^\s*(\S+)\s*([\s\S]*)$/.exec(pending + raw) ?? [];
    pending = "";
    yield { line: first, word: word.toUpperCase(), rest: rest.trim() };
  }
}

/** `["a", "b c"]` is the exec form of a command. */
function shellOf(rest: string): string {
  if (!rest.startsWith("[")) return rest;
  try {
    const words = JSON.parse(rest) as string[];
    return words.map(shellQuote).join(" ");
  } catch {
    return rest;
  }
}

/** `A=1 B="two words"`, or the older `A 1`. */
function variables(rest: string): Record<string, string> {
  const pairs = [...rest.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g)];
  if (pairs.length === 0) {
    const [, name = "", value = ""] = /^(\w+)\s+(.*)$/s.exec(rest) ?? [];
    return name === "" ? {} : { [name]: value };
  }
  return Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => [name, value.replace(/^(["'])([\s\S]*)\1$/, "$2")]),
  );
}

function absolute(place: string, workdir: string): string {
  const joined = place.startsWith("/") ? place : `${workdir}/${place}`;
  const parts: string[] = [];
  for (const part of joined.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { compileFunction } from "node:vm";
import type { Jiti } from "jiti";
import { importTypeScript, publicEntries, typeScriptLoader } from "../../../config/import-typescript.ts";
import type { ServerDefinition } from "../../../servers/definitions/door.ts";
import { compiledTwin } from "../../../servers/hosting/light-door.ts";
import { findMutants, loopCounters, type Mutant } from "./mutants.ts";
import { parseTypeScript, type SyntaxNode } from "./syntax.ts";

interface SourceFile {
  readonly file: string;
  readonly source: string;
  readonly tree: SyntaxNode;
  /** Imports of other code of the folder, by what the source says. */
  readonly own: ReadonlyMap<string, string>;
  /** The compiled code without a fault. */
  compiled?: string;
}

/** Turns of loops that a server may make until it counts as endless. */
export class Turns {
  count = 0;
  limit = Number.POSITIVE_INFINITY;
}

/** Computes metrics, and takes no part in rewards. */
const METRICS_FILE = /metrics?\.ts$/;

/** The code of a server's folder, which can be loaded with a fault in it. Nothing is written. */
export class MutableServer {
  readonly mutants: readonly Mutant[];
  readonly turns = new Turns();
  readonly #entry: string;
  readonly #files: ReadonlyMap<string, SourceFile>;
  readonly #outside: ReadonlyMap<string, unknown>;
  readonly #loader: Jiti;

  private constructor(
    entry: string,
    files: ReadonlyMap<string, SourceFile>,
    outside: ReadonlyMap<string, unknown>,
    loader: Jiti,
  ) {
    this.#entry = entry;
    this.#files = files;
    this.#outside = outside;
    this.#loader = loader;
    const folder = path.dirname(entry);
    this.mutants = [...files.values()]
      .filter(({ file }) => !METRICS_FILE.test(file))
      .flatMap(({ file, source, tree }) => findMutants(path.relative(folder, file), source, tree));
  }

  static async open(entry: string, installRoot: string): Promise<MutableServer> {
    const loader = await typeScriptLoader({ fsCache: false });
    const folder = path.dirname(entry);
    const files = new Map<string, SourceFile>();
    const outside = new Map<string, unknown>();
    const pending = [entry];
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (files.has(file)) continue;
      const source = readFileSync(file, "utf8");
      const tree = parseTypeScript(loader, source, file);
      const own = new Map<string, string>();
      for (const name of importsOf(tree)) {
        const target = path.resolve(path.dirname(file), name);
        if (name.startsWith(".") && target.startsWith(folder + path.sep) && target.endsWith(".ts")) {
          own.set(name, target);
          pending.push(target);
        } else outside.set(`${file} ${name}`, await importOutside(name, file, installRoot));
      }
      files.set(file, { file, source, tree, own });
    }
    return new MutableServer(entry, files, outside, loader);
  }

  /** The definition of the server, with a fault if one is given. */
  load(mutant?: Mutant): ServerDefinition {
    const modules = new Map<string, { exports: Record<string, unknown> }>();
    const evaluate = (file: string): Record<string, unknown> => {
      const known = modules.get(file);
      if (known !== undefined) return known.exports;
      const found = this.#files.get(file);
      if (found === undefined) throw new Error(`${file} is not part of the server.`);
      const module = { exports: {} as Record<string, unknown> };
      modules.set(file, module);
      const require = (name: string) => {
        const own = found.own.get(name);
        return own === undefined ? this.#outside.get(`${file} ${name}`) : evaluate(own);
      };
      const names = ["exports", "require", "module", "__filename", "__dirname", "__turn"];
      const run = compileFunction(this.#compile(found, mutant), names, { filename: file });
      run(module.exports, require, module, file, path.dirname(file), this.#turn);
      return module.exports;
    };
    return evaluate(this.#entry)["default"] as ServerDefinition;
  }

  /** Sources stay on their lines, so that stacks name them. */
  #compile(found: SourceFile, mutant: Mutant | undefined): string {
    const { file, source, tree } = found;
    const here = mutant !== undefined && path.resolve(path.dirname(this.#entry), mutant.file) === file;
    if (!here && found.compiled !== undefined) return found.compiled;
    const edits = loopCounters(tree).map(({ at, text }) => ({ start: at, end: at, to: text }));
    const inside = (at: number) => here && at > mutant.start && at < mutant.end;
    const kept = edits.filter(({ start }) => !inside(start));
    if (here) kept.push(mutant);
    let text = source;
    for (const { start, end, to } of kept.sort((a, b) => b.start - a.start || b.end - a.end))
      text = text.slice(0, start) + to + text.slice(end);
    const code = this.#loader.transform({ source: text, filename: file, ts: true, interopDefault: false });
    if (code.startsWith("exports.__JITI_ERROR__")) throw new SyntaxError(code.slice(0, 300));
    if (!here) found.compiled = code;
    return code;
  }

  readonly #turn = (): void => {
    if (++this.turns.count > this.turns.limit) throw new Error("A loop does not end.");
  };
}

function importsOf({ body }: SyntaxNode): string[] {
  return (body as SyntaxNode[]).flatMap((node) => {
    if (!/^(?:Import|Export\w*)Declaration$/.test(node.type)) return [];
    if (node["importKind"] === "type" || node["exportKind"] === "type") return [];
    const { source } = node as { source?: { value: string } | null };
    return source ? [source.value] : [];
  });
}

/** Code outside the folder is the one that the host uses, so that both know the same classes. */
async function importOutside(name: string, from: string, installRoot: string): Promise<unknown> {
  const own = publicEntries().find(([entry]) => entry === name);
  if (own !== undefined) return import(pathToFileURL(own[1]).href);
  if (name.startsWith("node:")) return import(name);
  if (name.startsWith(".")) {
    const file = path.resolve(path.dirname(from), name);
    const built = import.meta.url.endsWith(".js") ? compiledTwin(file, installRoot) : undefined;
    if (built !== undefined) return import(pathToFileURL(built).href);
    return file.endsWith(".ts") ? importTypeScript(file) : import(pathToFileURL(file).href);
  }
  if (name === "zod") return import("zod");
  return import(pathToFileURL(createRequire(from).resolve(name)).href);
}

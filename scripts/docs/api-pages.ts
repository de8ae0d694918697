import { readFileSync } from "node:fs";
import path from "node:path";
import { ts } from "@ts-morph/common";
import { installRoot } from "../../src/config/paths.ts";
import { GENERATED, markdownTable } from "./markdown.ts";

const root = installRoot();

const FOLDER = "docs/reference/api";

/** Longer types of constants and class members are cut; see the source for the rest. */
const MAX_TYPE_CHARS = 600;

interface Entry {
  /** The import name, such as `nemo-gym/run`. */
  readonly name: string;
  readonly file: string;
}

/** docs/reference/api/: a page per public entry with every export, its signature and its comment, and an index. */
export function apiPages(): { file: string; text: string }[] {
  const entries = publicEntries();
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    compilerOptions(),
  );
  const checker = program.getTypeChecker();
  const pages = entries.map((entry) => entryPage(entry, program, checker));
  const index = [
    "# TypeScript API",
    GENERATED,
    "Everything the package exports, by the name it is imported from. For examples, see [the guide](../../guide/typescript-api.md).",
    markdownTable(
      ["import from", "what it holds"],
      pages.map(({ name, page, summary }) => [`[\`${name}\`](${page})`, summary]),
    ),
  ];
  return [
    { file: `${FOLDER}/README.md`, text: `${index.join("\n\n")}\n` },
    ...pages.map(({ page, text }) => ({ file: `${FOLDER}/${page}`, text })),
  ];
}

function entryPage({ name, file }: Entry, program: ts.Program, checker: ts.TypeChecker) {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!source || !module) throw new Error(`${file} has no exports.`);
  const summary = moduleComment(source);
  if (summary === undefined) throw new Error(`${file} has no comment with @module.`);
  const symbols = checker.getExportsOfModule(module).sort((a, b) => (a.name < b.name ? -1 : 1));
  const parts = [`# ${name}`, GENERATED, summary, ...symbols.flatMap((symbol) => describe(symbol, checker))];
  return { name, page: `${path.basename(name)}.md`, summary, text: `${parts.join("\n\n")}\n` };
}

function publicEntries(): Entry[] {
  const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string | { default: string }>;
  };
  return Object.entries(manifest.exports).flatMap(([entry, target]) => {
    if (typeof target === "string") return [];
    const source = target.default.replace("./dist/", "").replace(/\.js$/, ".ts");
    return [{ name: manifest.name + entry.slice(1), file: path.join(root, source) }];
  });
}

function compilerOptions(): ts.CompilerOptions {
  const file = path.join(root, "tsconfig.json");
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  return { ...ts.parseJsonConfigFileContent(config, ts.sys, root).options, noEmit: true };
}

function moduleComment(source: ts.SourceFile): string | undefined {
  const text = /^\/\*\*([\s\S]*?)\*\//.exec(source.text)?.[1];
  if (!text?.includes("@module")) return undefined;
  return text
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .filter((line) => !line.startsWith("@module"))
    .join("\n")
    .trim();
}

function describe(exported: ts.Symbol, checker: ts.TypeChecker): string[] {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const parts = [`## ${exported.name}`];
  if (comment) parts.push(comment);
  const declarations = signatures(exported.name, symbol, checker);
  if (declarations.length > 0) parts.push(`\`\`\`ts\n${declarations.join("\n")}\n\`\`\``);
  for (const tag of symbol.getJsDocTags(checker)) {
    const text = ts.displayPartsToString(tag.text).trim();
    if (tag.name === "example") parts.push("Example:", `\`\`\`ts\n${text}\n\`\`\``);
    if (tag.name === "throws") parts.push(`Throws ${text}`);
  }
  return parts;
}

function signatures(name: string, symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  const result: string[] = [];
  for (const declaration of symbol.declarations ?? []) {
    if (ts.isFunctionDeclaration(declaration)) {
      // For an overloaded function the signatures count, not the implementation.
      const overloaded = (symbol.declarations?.length ?? 0) > 1;
      if (overloaded && declaration.body) continue;
      result.push(functionText(declaration));
    } else if (ts.isClassDeclaration(declaration)) result.push(classText(name, declaration));
    else if (ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration))
      result.push(withoutExport(declaration.getText()));
    else if (ts.isVariableDeclaration(declaration)) {
      const type = checker.typeToString(
        checker.getTypeAtLocation(declaration),
        declaration,
        ts.TypeFormatFlags.None,
      );
      result.push(`const ${name}: ${cut(type)}`);
    }
  }
  return result;
}

const withoutExport = (text: string) => text.replace(/^export (?:default )?(?:declare )?/, "");

function functionText(node: ts.FunctionDeclaration): string {
  const end = node.body ? node.body.getStart() : node.getEnd();
  return withoutExport(node.getSourceFile().text.slice(node.getStart(), end).trim());
}

function classText(name: string, node: ts.ClassDeclaration): string {
  const heritage = (node.heritageClauses ?? []).map((clause) => ` ${clause.getText()}`).join("");
  const parameters = node.typeParameters
    ? `<${node.typeParameters.map((parameter) => parameter.getText()).join(", ")}>`
    : "";
  const members = node.members.filter(isPublic).map((member) => `  ${memberText(member)}`);
  return [`class ${name}${parameters}${heritage} {`, ...members, "}"].join("\n");
}

function isPublic(member: ts.ClassElement): boolean {
  if (ts.isConstructorDeclaration(member)) return member.parameters.length > 0;
  if (!member.name || ts.isPrivateIdentifier(member.name)) return false;
  return !(ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected));
}

function memberText(member: ts.ClassElement): string {
  const text = member.getSourceFile().text;
  const body = (member as ts.MethodDeclaration).body;
  const initializer = (member as ts.PropertyDeclaration).initializer;
  const end = body ? body.getStart() : initializer ? initializer.getFullStart() - 1 : member.getEnd();
  return cut(text.slice(member.getStart(), end).trim().replace(/=$/, "").trim().replaceAll(/\s+/g, " "));
}

function cut(text: string): string {
  return text.length <= MAX_TYPE_CHARS ? text : `${text.slice(0, MAX_TYPE_CHARS)} …`;
}

// Makes the compiled code of a package smaller, in place: `node scripts/shrink-package.mjs [PACKAGE]`. It removes comments and
// whitespace, shortens the names of local variables, and removes the declarations that no public entry uses. Functions and
// classes keep their names and have their own lines, so stack traces stay readable: Node prints the line of an uncaught error.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { minifySync, parseSync } from "vite";

const NAMES = { function: true, class: true };
const MINIFY = { compress: false, mangle: { keepNames: NAMES }, codegen: { removeWhitespace: true } };

const root = path.resolve(process.argv[2] ?? ".");
const dist = path.join(root, "dist");
const viewer = path.join(dist, "viewer");
const files = readdirSync(dist, { recursive: true }).map((file) => path.join(dist, file));

for (const file of files) if (file.endsWith(".js") && !file.startsWith(viewer)) minify(file);
const reachable = declarationsOf(path.join(root, "package.json"));
for (const file of files) if (file.endsWith(".d.ts") && !reachable.has(file)) rmSync(file);
// The next build compiles everything again.
rmSync(path.join(dist, ".tsbuildinfo"), { force: true });

function minify(file) {
  const { code, errors } = minifySync(file, readFileSync(file, "utf8"), MINIFY);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  writeFileSync(file, linesOf(file, code).join("\n"));
}

/** Splits code before every statement of the module and every member of its classes. */
function linesOf(file, code) {
  const starts = parseSync(file, code).program.body.flatMap((statement) => {
    const { type, body } = statement.declaration ?? statement;
    return [statement, ...(type === "ClassDeclaration" ? body.body : [])].map(({ start }) => start);
  });
  return [0, ...starts].map((start, index) => code.slice(start, starts[index])).filter((line) => line !== "");
}

/** The declaration files of the `exports`, and those they import. */
function declarationsOf(manifest) {
  const { exports } = JSON.parse(readFileSync(manifest, "utf8"));
  const found = new Set();
  const pending = Object.values(exports).flatMap(({ types }) => (types ? [path.join(root, types)] : []));
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, name] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const imported = path.resolve(path.dirname(file), name.replace(/\.[jt]s$/, ".d.ts"));
      if (!existsSync(imported)) throw new Error(`${file} imports '${name}', which has no declarations.`);
      pending.push(imported);
    }
  }
  return found;
}

import { runSuite, suiteNames } from "./conformance/suite.ts";

const [name, ...files] = process.argv.slice(2);
if (!name || files.length === 0) {
  console.error(
    `usage: npm run conformance -- <suite> <file>...\nsuites: ${suiteNames.join(", ")} (env:<name>)`,
  );
  process.exit(2);
}
let passed = 0;
let failed = 0;
for (const file of files) {
  for (const result of await runSuite(name, file)) {
    if (result.error === undefined) passed++;
    else {
      failed++;
      console.log(`FAIL ${result.id}: ${result.error}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

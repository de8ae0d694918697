import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import manifest from "./package.json" with { type: "json" };
import { RetriedTests } from "./tests/support/retried-tests.ts";

/** They start programs, or feed what is large and hostile: too long for every commit. `npm test` runs them. */
const slow = [
  "src/sandbox/{cli-providers,service-providers,providers/**/*}.test.ts",
  "src/sandbox/code-runner/{code-runner,python-tests}.test.ts",
  "resources_servers/{agentif,bird_sql,browsecomp_advanced_harness,code_gen,competitive_coding_challenges,cvdp,deepswe,evalplus,code_fim,bigcodebench,math_with_code,newton_bench,ns_tools,nvarc,scicodepile,spider2_lite,swerl_gen,tales,scicode,swebench}/**/*.test.ts",
  "resources_servers/harbor/*.test.ts",
  "src/math/properties.test.ts",
  "{resources_servers,responses_api_agents}/mini_swe_agent{,_2}/**/*.test.ts",
  "src/cli/submit/job-script.test.ts",
  "src/servers/hosting/processes/install-dependencies.test.ts",
  "src/servers/hosting/load-definition.test.ts",
  "src/wire/parsers.property.test.ts",
  "src/base/python/re.test.ts",
  "src/cli/workloads/{scaffold,audit,certify,publish}/**/*.test.ts",
  "src/cli/env/{validate,watch,test/*}.test.ts",
  "src/cli/eval/prepare.test.ts",
  "src/run/run-evaluation.test.ts",
  "src/run/optimize/search.test.ts",
  "scripts/conformance/*.test.ts",
  "scripts/docs/api-pages.test.ts",
  "resources_servers/{format_verification,reasoning_gym,structured_outputs,instruction_following,string_match}/**/*.test.ts",
  "libraries/instructions/{text/*,ifeval/hostile}.test.ts",
  "libraries/json-schema/*.test.ts",
  "resources_servers/equivalence_llm_judge/app.test.ts",
  "responses_api_models/local_vllm_model/*.test.ts",
  "examples/resources_servers/snippets/*.test.ts",
  "src/viewer/{server,index/rollout-file}.test.ts",
  "src/records/board/false-discoveries.test.ts",
];

/** Tests with real processes and clocks get a second try on machines that others use at the same time; it is shown, with its reason. */
const RETRIES = process.env["CI"] ? 1 : 0;

/** `exports` of package.json, each name pointing at its source. */
const publicEntries = Object.entries(manifest.exports).flatMap(([entry, target]) => {
  if (typeof target === "string") return [];
  const source = target.default.replace("./dist/", "./").replace(/\.js$/, ".ts");
  return [
    {
      find: new RegExp(`^${manifest.name}${entry.slice(1)}$`),
      replacement: fileURLToPath(new URL(source, import.meta.url)),
    },
  ];
});

/** The built program, wherever the repository lies. */
const built = new RegExp(`^(?:file://)?${import.meta.dirname.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}/dist/`);

export default defineConfig({
  resolve: {
    alias: publicEntries,
  },
  test: {
    exclude: ["**/node_modules/**", "dist/**"],
    ...(RETRIES > 0 && { reporters: ["default", new RetriedTests()] }),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "threads",
    // Much of the time is waiting for programs: two at a time also on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    coverage: { provider: "v8", include: ["src/**/*.ts"], exclude: ["**/*.test.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // Files share what they have loaded: loading it anew for each would take as long as the tests.
          isolate: false,
          // Growth of time is measured here; a machine that others use can disturb it.
          retry: RETRIES,
          include: [
            "{src,scripts,bench,examples}/**/*.test.ts",
            "{resources_servers,responses_api_agents,responses_api_models,benchmarks,environments,libraries}/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "dist/**", ...slow],
        },
      },
      { extends: true, test: { name: "slow", include: slow, isolate: false, retry: RETRIES } },
      // Real processes and ports: needs `npm run build` first, which `npm test` does.
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/**/*.test.ts"],
          testTimeout: 60_000,
          retry: RETRIES,
          // What is built is loaded as it is, not through the aliases above.
          server: { deps: { external: [built] } },
        },
      },
    ],
  },
});

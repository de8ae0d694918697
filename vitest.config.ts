import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^nemo-gym$/, replacement: here("./src/index.ts") },
      {
        find: /^nemo-gym\/(server|client|config|openai|python|metrics|verify|testing|text|sandbox)$/,
        replacement: here("./src/$1/index.ts"),
      },
    ],
  },
  test: {
    exclude: ["**/node_modules/**", "dist/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "threads",
    coverage: { provider: "v8", include: ["src/**/*.ts"], exclude: ["**/*.test.ts"] },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "{src,scripts,bench,examples}/**/*.test.ts",
            "{resources_servers,responses_api_agents,responses_api_models,benchmarks,environments}/**/*.test.ts",
          ],
        },
      },
      // Real processes and ports: needs `npm run build` first, which `npm test` does.
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/**/*.test.ts"],
          testTimeout: 60_000,
          // What is built is loaded as it is, not through the aliases above.
          server: { deps: { external: [/\/dist\//] } },
        },
      },
    ],
  },
});

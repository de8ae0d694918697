/**
 * A value that all copies of this package in a process share. Servers with their own libraries have a copy of the package, and
 * TypeScript files may load another one, but all of them call the same endpoints.
 */
export function processWide<T>(name: string, create: () => T): T {
  const key = Symbol.for(`nemo-gym.${name}`);
  const store = globalThis as unknown as Record<symbol, T | undefined>;
  store[key] ??= create();
  return store[key];
}

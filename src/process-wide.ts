/**
 * A value that all copies of this package in one process share: servers with libraries of their own bring a copy, and files
 * loaded as TypeScript may see another one, yet they all call the same endpoints.
 */
export function processWide<T>(name: string, create: () => T): T {
  const key = Symbol.for(`nemo-gym.${name}`);
  const store = globalThis as unknown as Record<symbol, T | undefined>;
  const existing = store[key];
  if (existing !== undefined) return existing;
  const value = create();
  store[key] = value;
  return value;
}

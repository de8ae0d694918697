import { GymError } from "./errors.ts";

/** Loads a package that users install only if they need it. Without it, the error names what needs it. */
export async function optionalPackage<Module>(
  name: string,
  feature: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new GymError(
      "PACKAGE_MISSING",
      `${feature} needs the npm package ${name}. Install it where nemo-gym is installed: npm install ${name}`,
      { cause: error },
    );
  }
}

/**
 * Reading answers out of what models write.
 *
 * @module
 */
export * from "./boxed.ts";
export * from "./multiple-choice.ts";

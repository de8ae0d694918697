declare module "*.css";

/** The part of temml that the viewer uses. */
declare module "temml" {
  interface Options {
    displayMode?: boolean;
    throwOnError?: boolean;
    trust?: boolean;
    /** Macros expanded at the most. */
    maxExpand?: number;
    /** The longest lengths, in em and in the height of a rule. */
    maxSize?: [number, number];
  }
  const temml: { render: (expression: string, into: HTMLElement, options?: Options) => void };
  export default temml;
}

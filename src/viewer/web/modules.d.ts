declare module "*.css";

/** The part of temml that the viewer uses. */
declare module "temml" {
  interface Options {
    displayMode?: boolean;
    throwOnError?: boolean;
    trust?: boolean;
    /** Maximum number of macro expansions. */
    maxExpand?: number;
    /** Maximum lengths, in em and in rule heights. */
    maxSize?: [number, number];
  }
  const temml: { render: (expression: string, into: HTMLElement, options?: Options) => void };
  export default temml;
}

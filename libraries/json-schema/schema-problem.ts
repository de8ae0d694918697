/** The reason why an instance cannot be validated: an unresolvable reference, an endless recursion, an invalid pattern. */
export class SchemaProblem extends Error {}

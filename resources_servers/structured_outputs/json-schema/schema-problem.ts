/** Why an instance cannot be said to fit its schema: a reference that leads nowhere, an endless recursion, a broken pattern. */
export class SchemaProblem extends Error {}

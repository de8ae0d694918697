import type { Databases } from "./databases.ts";
import { Table } from "./table.ts";
import { ToolError } from "./tool-error.ts";
import type { Arguments } from "./tools/arguments.ts";

export type ToolParameters = Readonly<
  Record<string, { description: string; type?: "string" | "integer"; required?: boolean }>
>;

export interface Tool {
  description: string;
  parameters: ToolParameters;
  /** Whether the tool can change the databases; other tools need not be replayed. */
  changes?: true;
  /** Runs the tool; throws a ToolError where a Python tool would raise an error. */
  run(workplace: Workplace, given: Arguments): unknown;
}

export type ToolSet = Readonly<Record<string, Tool>>;

/** The state of one rollout: its own view of the databases, and the tools that change it. */
export class Workplace {
  readonly databases: Databases;
  readonly calendar: Table;
  readonly emails: Table;
  readonly plots: Table;
  readonly tasks: Table;
  readonly customers: Table;
  sessionDurationsAreNumbers = false;

  constructor(databases: Databases) {
    this.databases = databases;
    this.calendar = databases.calendar.copy();
    this.emails = databases.emails.copy();
    this.plots = new Table(["file_path"], []);
    this.tasks = databases.tasks.copy();
    this.customers = databases.customers.copy();
  }

  /** Runs a tool by name. */
  call(tools: ToolSet, name: string, given: Arguments): unknown {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool === undefined) throw new ToolError(`'${name}'`);
    const unknown = Object.keys(given).find((key) => !Object.hasOwn(tool.parameters, key));
    if (unknown !== undefined)
      throw new ToolError(`${name}() got an unexpected keyword argument '${unknown}'`);
    return tool.run(this, given);
  }
}

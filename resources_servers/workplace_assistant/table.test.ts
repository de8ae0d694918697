import { describe, expect, it } from "vitest";
import { Table } from "./table.ts";
import { ToolError } from "./tool-error.ts";

const make = () =>
  Table.of(
    ["id", "name"],
    ["00", "07", "03"].map((id) => ({ id, name: `n${id}` })),
  );
const labels = (table: Table) => table.rows.map(({ label, cells }) => `${label}:${cells["id"]}`);

describe("Table", () => {
  it("keeps labels after a deletion, and renumbers on request", () => {
    const table = make();
    expect(table.delete("id", "07")).toBe(true);
    expect(table.delete("id", "07")).toBe(false);
    expect(labels(table)).toEqual(["0:00", "2:03"]);
    const other = table.copy();
    table.appendRenumbered({ id: "08", name: "x" });
    other.append({ id: "08", name: "x" }, 0);
    expect(labels(table)).toEqual(["0:00", "1:03", "2:08"]);
    expect(labels(other)).toEqual(["0:00", "2:03", "0:08"]);
  });

  it("shares rows with its copies, but not its changes", () => {
    const table = make();
    const copy = table.copy();
    expect(copy.rows).toBe(table.rows);
    copy.update("id", "03", "name", "changed");
    expect(copy.find("id", "03")?.cells["name"]).toBe("changed");
    expect(table.find("id", "03")?.cells["name"]).toBe("n03");
  });

  it("creates the id after the largest one, compared as text", () => {
    const table = make();
    expect(table.nextId("id")).toBe("8");
    table.append({ id: "5", name: "" }, 0);
    expect(table.nextId("id")).toBe("6");
    table.append({ id: "x", name: "" }, 0);
    expect(() => table.nextId("id")).toThrow(ToolError);
    table.append({ id: 9, name: "" }, 0);
    expect(() => table.nextId("id")).toThrow(ToolError);
    expect(() => Table.of(["id"], []).nextId("id")).toThrow(ToolError);
  });
});

import type { Row, Table } from "../table.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolSet } from "../workplace.ts";
import { cellValue, isFalsy, isOneOf, lowered } from "./arguments.ts";
import { rowsContaining } from "./search.ts";

const LISTS = ["Backlog", "In Progress", "In Review", "Completed"];
const BOARDS = ["Back end", "Front end", "Design"];
const FIELDS = ["task_name", "assigned_to_email", "list_name", "due_date", "board"] as const;
const ID_DIGITS = 8;

const quoted = (choices: readonly string[]) => choices.map((choice) => `'${choice}'`).join(", ");
const INVALID_LIST = `List not valid. Please choose from: ${quoted(LISTS)}.`;
const INVALID_BOARD = `Board not valid. Please choose from: ${quoted(BOARDS)}.`;
const INVALID_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members.";

const EMAIL = /^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}\n?$/;
/** Longer than any mail system accepts. The pattern takes quadratic time on texts that look like an address but are not. */
const MAX_EMAIL_LENGTH = 1000;

const taskId = { description: "Id of the task, eight digits", required: true };
const listName = { description: `One of ${LISTS.join(", ")}`, required: true };
const boardName = { description: `One of ${BOARDS.join(", ")}`, required: true };

function isEmail(value: unknown): boolean {
  if (typeof value !== "string") throw new ToolError("expected string or bytes-like object");
  return value.length <= MAX_EMAIL_LENGTH && EMAIL.test(value);
}

/** Only a person who already has a task may get another one. */
function isTeamMember(tasks: Table, email: string): boolean {
  return tasks.rows.some(({ cells }) => {
    const assignee = cells["assigned_to_email"];
    return typeof assignee === "string" && assignee.toLowerCase() === email;
  });
}

export const projectManagementTools: ToolSet = {
  project_management_get_task_information_by_id: {
    description: "Gives one field of a task.",
    parameters: {
      task_id: taskId,
      field: { description: `One of task_id, ${FIELDS.join(", ")}`, required: true },
    },
    run: ({ tasks }, { task_id, field }) => {
      if (isFalsy(task_id)) return "Task ID not provided.";
      if (isFalsy(field)) return "Field not provided.";
      const task = tasks.find("task_id", task_id);
      if (task === undefined) return "Task not found.";
      if (typeof field !== "string" || !tasks.columns.includes(field)) return "Field not found.";
      return { [field]: task.cells[field] };
    },
  },
  project_management_search_tasks: {
    description: "Searches the tasks; every argument given must match.",
    parameters: {
      task_name: { description: "What the task's name must contain" },
      assigned_to_email: { description: "Address of the assignee" },
      list_name: { description: "What the list's name must contain" },
      due_date: { description: "What the due date, YYYY-MM-DD, must contain" },
      board: { description: "What the board's name must contain" },
    },
    run: ({ tasks }, given) => {
      if (FIELDS.every((field) => isFalsy(given[field]))) return "No search parameters provided.";
      const assignee = given["assigned_to_email"];
      if (!isFalsy(assignee) && !isEmail(assignee)) return "Invalid email format for assigned_to_email.";
      let rows: readonly Row[] = tasks.rows;
      for (const field of FIELDS) {
        const wanted = given[field];
        if (isFalsy(wanted)) continue;
        rows =
          field === "assigned_to_email"
            ? assignedTo(rows, lowered(wanted))
            : rowsContaining(rows, field, wanted);
      }
      return rows.map(({ cells }) => cells);
    },
  },
  project_management_create_task: {
    description: "Creates a task.",
    changes: true,
    parameters: {
      task_name: { description: "Name of the task", required: true },
      assigned_to_email: { description: "Address of the assignee", required: true },
      list_name: listName,
      due_date: { description: "Due date, as YYYY-MM-DD", required: true },
      board: boardName,
    },
    run: ({ tasks }, { task_name, assigned_to_email, list_name, due_date, board }) => {
      if ([task_name, assigned_to_email, list_name, due_date, board].some(isFalsy))
        return "Missing task details.";
      const assignee = lowered(assigned_to_email);
      if (!isTeamMember(tasks, assignee)) return INVALID_ASSIGNEE;
      if (!isOneOf(list_name, LISTS)) return INVALID_LIST;
      if (!isOneOf(board, BOARDS)) return INVALID_BOARD;
      const task_id = tasks.nextId("task_id").padStart(ID_DIGITS, "0");
      tasks.appendRenumbered({ task_id, task_name, assigned_to_email: assignee, list_name, due_date, board });
      return task_id;
    },
  },
  project_management_delete_task: {
    description: "Deletes a task.",
    changes: true,
    parameters: { task_id: taskId },
    run: ({ tasks }, { task_id }) => {
      if (isFalsy(task_id)) return "Task ID not provided.";
      return tasks.delete("task_id", task_id) ? "Task deleted successfully." : "Task not found.";
    },
  },
  project_management_update_task: {
    description: "Changes one field of a task.",
    changes: true,
    parameters: {
      task_id: taskId,
      field: { description: `One of ${FIELDS.join(", ")}`, required: true },
      new_value: { description: "What the field shall hold", required: true },
    },
    run: ({ tasks }, { task_id, field, new_value }) => {
      if (isFalsy(task_id) || isFalsy(field) || isFalsy(new_value))
        return "Task ID, field, or new value not provided.";
      const value = field === "assigned_to_email" ? lowered(new_value) : new_value;
      if (field === "board" && !isOneOf(value, BOARDS)) return INVALID_BOARD;
      if (field === "list_name" && !isOneOf(value, LISTS)) return INVALID_LIST;
      if (field === "assigned_to_email" && !isTeamMember(tasks, lowered(value))) return INVALID_ASSIGNEE;
      if (tasks.find("task_id", task_id) === undefined) return "Task not found.";
      if (typeof field !== "string" || !tasks.columns.includes(field)) return "Field not valid.";
      tasks.update("task_id", task_id, field, cellValue(value));
      return "Task updated successfully.";
    },
  },
};

function assignedTo(rows: readonly Row[], email: string): readonly Row[] {
  return rows.filter(({ cells }) => {
    const assignee = cells["assigned_to_email"];
    return typeof assignee === "string" && assignee.toLowerCase() === email;
  });
}

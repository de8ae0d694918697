/** The purpose of a tool, independent of its name in a harness. */
export type Category = "edit" | "bash" | "search" | "read" | "finish" | "think" | "planning";

const NAMES: Readonly<Record<Category, string>> = {
  edit: "str_replace_editor text_editor file_editor code_editor edit_file modify_file update_file file_edit edit modify apply_patch patch_file apply_diff apply_changes write write_file save_file create_file",
  bash: "execute_bash run_bash bash_exec shell_run shell bash terminal shell_command shell_cmd run_shell_cmd exec_command exec_cmd",
  search:
    "grep search_text find_pattern text_search glob find_files file_glob match_files grep_files search_files find_in_files code_search list_dir ls show_dir ls_dir list_directory",
  read: "read read_file view_file cat_file view file_view inspect show_file read_file_content",
  finish: "finish submit",
  think: "think",
  planning:
    "task_tracker todo_tracker plan_tracker todo_read todo_write update_plan list_tasks update_tasks read_todos write_todos edit_plan modify_plan",
};

/** Also matches names without underscores: some harnesses write `StrReplaceEditor`. */
const CATEGORIES = new Map(
  Object.entries(NAMES).flatMap(([category, names]) =>
    names
      .split(" ")
      .flatMap((name) =>
        [name, name.replaceAll("_", "")].map((each) => [each, category as Category] as const),
      ),
  ),
);

export function categoryOf(name: string): Category | undefined {
  return CATEGORIES.get(name.toLowerCase());
}

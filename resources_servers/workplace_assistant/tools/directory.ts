import { ToolError } from "../tool-error.ts";
import type { ToolSet } from "../workplace.ts";
import { lowered } from "./arguments.ts";
import { containing } from "./search.ts";

export const directoryTools: ToolSet = {
  company_directory_find_email_address: {
    description: "Lists the company's e-mail addresses that contain a name.",
    parameters: { name: { description: "Name, or part of one", required: true } },
    run: ({ databases }, { name = "" }) => {
      if (name === "") return "Name not provided.";
      const matches = containing(lowered(name));
      return databases.directory.filter((address) => {
        if (address === null)
          throw new ToolError("Cannot mask with non-boolean array containing NA / NaN values");
        return matches(address);
      });
    },
  },
};

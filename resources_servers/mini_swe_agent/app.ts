import { defineGrader } from "../../libraries/swe/define-grader.ts";

export default defineGrader();

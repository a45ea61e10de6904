/**
 * Flags of the commands `describe`.
 *
 * @module
 */
import { stringArrayFlag, stringFlag, stringListFlag } from "../../lib/cli/flag.ts";
import { meshFlags } from "./offline_flags.ts";
import { serverFlags } from "./server_flags.ts";

export const describeFlags = {
  ...meshFlags,
  registries: stringListFlag(["File"], "with --files: File takes the services of manifests; empty: only of entries", {
    allowed: ["File"],
  }),
  ...serverFlags,
  files: stringArrayFlag([], "folder, file or - in place of a server; may be repeated", {
    short: "f",
    complete: "file",
  }),
  namespace: stringFlag("", "namespace of a name without one", { short: "n", complete: "namespace" }),
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

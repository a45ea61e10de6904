/**
 * Names of gateways in virtual services.
 *
 * @module
 */
import type { Findings } from "../../../finding/findings.ts";
import { hostProblem, isDnsLabel, objectNameProblem } from "../../validation/names.ts";

/** Checks names of gateways: `namespace/name`, `name`, or the older `name.namespace...` form. */
export function checkGatewayNames(names: readonly string[] | undefined, at: string, report: Findings): void {
  names?.forEach((name, index) => {
    const where = `${at}[${index}]`;
    const slash = name.indexOf("/");
    if (slash < 0) {
      const wrong = hostProblem(name);
      if (wrong !== undefined) report.error(where, name, "mesh, or a gateway as namespace/name or name");
      else if (name.includes(".")) {
        const [gateway, namespace] = name.split(".");
        report.warning(where, name, `namespace/name, here ${namespace}/${gateway}`);
      }
    } else if (
      !isDnsLabel(name.slice(0, slash)) || objectNameProblem(name.slice(slash + 1)) !== undefined
    ) {
      report.error(where, name, "a gateway as namespace/name");
    }
  });
}

/**
 * Delegates named by the rules of VirtualServices.
 *
 * @module
 */
import { severityOfAbsence } from "../reader/absence.ts";
import type { Analyzer } from "../analyzer.ts";
import { nearObject } from "./near_object.ts";

export const DELEGATES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unknown-delegate"],
  analyze: ({ meta, spec: { hosts = [], http = [] } }, read, report) => {
    // A VirtualService without hosts is itself a delegate. Only a single level is allowed, and the root has the
    // finding.
    if (hosts.length === 0) return;
    for (const [at, { delegate }] of http.entries()) {
      if (delegate?.name === undefined) continue;
      const { name } = delegate;
      const namespace = delegate.namespace || meta.namespace;
      const found = read.object("VirtualService", namespace, name);
      if (found ? !found.spec.hosts?.length : read.isRefused("VirtualService", namespace, name)) continue;
      const full = `${namespace}/${name}`;
      if (found) {
        const expected = `a VirtualService without hosts (${full} has hosts, so it is not a delegate)`;
        report("error", "unknown-delegate", {
          field: `spec.http[${at}].delegate.name`,
          value: name,
          expected,
          others: [found.key],
        });
        continue;
      }
      const all = read.objectsIn("VirtualService", namespace);
      const others = read.objects("VirtualService").filter(({ spec }) => !spec.hosts?.length);
      const hint = nearObject({ namespace, name }, others.map((one) => one.meta));
      const expected = `a VirtualService that exists (${full} does not)${hint}`;
      const severity = severityOfAbsence(read, namespace === meta.namespace || all.length > 0);
      report(severity, "unknown-delegate", { field: `spec.http[${at}].delegate.name`, value: name, expected });
    }
  },
};

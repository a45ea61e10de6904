/**
 * Served Ingresses with parts that are not served as written.
 *
 * @module
 */
import { isServed } from "../../ingress/class.ts";
import type { IngressReader } from "../../ingress/reader.ts";
import { ingressMistakes } from "../../ingress/rules.ts";
import type { Analyzer } from "../analyzer.ts";

export const INGRESS_MISTAKES: Analyzer<"Ingress"> = {
  kind: "Ingress",
  reports: ["ingress-backend-unavailable", "ingress-part-left-out"],
  analyze: (ingress, read, report) => {
    const reader: IngressReader = {
      fact: (kind, namespace, name) => read.fact(kind, namespace, name),
      facts: (kind) => read.facts(kind),
      mesh: (field) => read.meshConfig[field],
    };
    if (!isServed(ingress, reader)) return;
    ingressMistakes(ingress, {
      read: reader,
      domain: read.settings.domainSuffix,
      report: ({ becomes, ...mistake }) => {
        if (becomes === "unavailable") report("error", "ingress-backend-unavailable", mistake);
        else report("warning", "ingress-part-left-out", mistake);
      },
    });
  },
};

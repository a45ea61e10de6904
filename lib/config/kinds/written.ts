/**
 * An object in its author's form: the decoded fields, in the group, kind and spelling of the author's text.
 *
 * @module
 */
import { encodeField } from "../schema/encode.ts";
import { inIstioSpelling } from "../spelling/istio.ts";
import { apiVersionOfKind, isIstioGroup, spellingsOfKind } from "../spelling/spelling.ts";
import type { ConfigObject } from "../types.ts";
import { KIND_TABLE } from "./table.ts";

/** The object as JSON for a file, without unset fields. */
export function writtenForm(
  { kind, meta, spec, origin }: Pick<ConfigObject, "kind" | "meta" | "spec" | "origin">,
): Readonly<Record<string, unknown>> {
  const own = { apiVersion: apiVersionOfKind(kind), kind: spellingsOfKind(kind)[0] ?? kind };
  const head = (origin.from === "derived" ? undefined : origin.written) ?? own;
  const { name, namespace, labels, annotations } = meta;
  const body = {
    metadata: {
      name,
      ...namespace === "" ? {} : { namespace },
      ...Object.keys(labels).length > 0 ? { labels } : {},
      ...Object.keys(annotations).length > 0 ? { annotations } : {},
    },
    spec: encodeField(KIND_TABLE[kind].schema, spec),
  };
  const { apiVersion, kind: spelled } = head;
  return { apiVersion, kind: spelled, ...(isIstioGroup(apiVersion) ? inIstioSpelling(body) as object : body) };
}

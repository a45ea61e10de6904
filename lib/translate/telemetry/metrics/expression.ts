/**
 * Expressions of users for values of tags, as texts that the proxy fills in. They are written for Istio's proxy, which
 * has attributes that Envoy has under other names.
 *
 * @module
 */
import { tagExpression } from "../../../config/kinds/telemetry/tag_expression.ts";
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import { PEER_NAMESPACE } from "./gathered.ts";
import { PEER_KEY } from "./peer.ts";
import { cel, firstOf, UNKNOWN } from "./tag_value.ts";

/** A text of CEL, or something else that may hold a name. */
const TEXTS_AND_NAMES = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|'(?:[^'\\]|\\[^])*(?:'|\\?$)|[\w.]+/g;

/** The value of a tag; an expression that the proxy cannot evaluate is `unknown`. */
export function expressionValue(expression: string, side: TelemetrySide): string {
  const read = tagExpression(expression);
  if ("problem" in read) return "unknown";
  const peer = `metadata.filter_metadata['${PEER_NAMESPACE}']['${PEER_KEY}']`;
  const other = side === "client" ? "upstream_peer" : "downstream_peer";
  const renamed = read.expression.replaceAll(TEXTS_AND_NAMES, (found, at: number, whole: string) => {
    const [name = "", ...fields] = found.split(".");
    const isObject = fields.length > 0 || whole[at + found.length] === "[";
    const own = name === "node" ? "xds.node" : name === other ? peer : undefined;
    return own === undefined || !isObject ? found : [own, ...fields].join(".");
  });
  // A bracket before a percent sign would end the command.
  return firstOf(cel(renamed.replaceAll(")%", ") %")), UNKNOWN);
}

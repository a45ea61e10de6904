/**
 * The objects of the Gateway API behind derived objects.
 *
 * @module
 */
import type { Origin } from "../../finding/origin.ts";
import { isGatewayApiKind } from "../spelling/kind_names.ts";
import type { ObjectMeta } from "../types.ts";

/**
 * Whether an object is derived from objects of the Gateway API. Such an object gets no findings of its own: users change
 * the objects of the Gateway API, and these have findings.
 */
export function isMadeOfGatewayApi({ origin }: { readonly origin: Origin }): boolean {
  return origin.from === "derived" && isGatewayApiKind(origin.of.slice(0, origin.of.indexOf("/")));
}

/** The Gateway of the Gateway API from which an object is derived; undefined: the object has another origin. */
export function apiGatewayBehind(
  { origin }: { readonly origin: Origin },
): Pick<ObjectMeta, "namespace" | "name"> | undefined {
  if (origin.from !== "derived") return undefined;
  const [kind, namespace = "", name = ""] = origin.of.split("/");
  return kind === "ApiGateway" ? { namespace, name } : undefined;
}

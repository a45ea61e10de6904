/**
 * The library's interface for programs of others.
 *
 * - {@linkcode startServer} starts a discovery server in this process.
 * - {@linkcode translateForProxy} makes the resources that one proxy would get, from texts alone.
 * - {@linkcode simulate} shows what a proxy would do with a request, and which object caused each step.
 * - {@linkcode followRequest} takes a proxy and a URL: the same over both proxies on the way, with file and line.
 * - {@linkcode analyze} finds all that is wrong with configuration, in texts or in a folder.
 *
 * ```ts
 * import { explain, resourcesFrom, simulate, translateForProxy } from "@mesh/pilot";
 *
 * const { encoded } = translateForProxy({
 *   files: {
 *     "reviews.yaml": `
 *       apiVersion: networking.mesh.io/v1
 *       kind: ServiceEntry
 *       metadata: { name: reviews, namespace: shop }
 *       spec:
 *         hosts: [reviews.shop.svc.cluster.local]
 *         addresses: [10.96.0.10]
 *         ports: [{ number: 80, name: http, protocol: HTTP }]
 *         resolution: STATIC
 *         endpoints: [{ address: 10.0.0.1 }]`,
 *   },
 *   node: { id: "sidecar~10.0.0.9~cart-1.shop~shop.svc.cluster.local" },
 * });
 * const answer = simulate(resourcesFrom(encoded), {
 *   direction: "outbound",
 *   destination: { ip: "10.96.0.10", port: 80 },
 *   protocol: "http",
 *   host: "reviews",
 * });
 * if (answer.outcome.kind !== "forwarded") throw new Error(explain(answer));
 * ```
 *
 * @module
 */
export type { RunningServer, ServerOptions } from "./lib/discovery/start.ts";
export { startServer } from "./lib/offline/library/start_server.ts";
export { StartError, type StartFault, type StartOption } from "./lib/discovery/settings/start_error.ts";
export type { ProxyNode } from "./lib/offline/offline_mesh.ts";
export { type TranslatedProxy, translateForProxy, type TranslateRequest } from "./lib/offline/translate_one.ts";
export { NodeRefused } from "./lib/translate/proxy/identity.ts";
export * from "./lib/simulate/mod.ts";
export { type FollowedRequest, followRequest } from "./lib/offline/library/follow.ts";
export type {
  ExplainedEnd,
  ExplainedHop,
  ExplainedShare,
  ExplainedStep,
  Explanation,
  FieldPlace,
  ProxyOnWay,
} from "./lib/debug/explanation.ts";
export { BadQuestion } from "./lib/offline/explain/question.ts";
export { NoSuchProxy } from "./lib/offline/find_proxy.ts";
export { analyze, type AnalyzeRequest } from "./lib/offline/library/analyze.ts";
export type { CheckResult } from "./lib/offline/check/check.ts";
export { UnreadableInput } from "./lib/offline/inputs.ts";
export type { MeshTexts } from "./lib/offline/library/texts_mesh.ts";
export type { Finding, FindingPlace } from "./lib/finding/finding.ts";
export type { ObjectName } from "./lib/finding/object_name.ts";
export type { FindingName } from "./lib/finding/codes.ts";
export type { Origin } from "./lib/finding/origin.ts";
export type { Registry, RegistrySink } from "./lib/registry/types.ts";

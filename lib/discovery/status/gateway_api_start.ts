/**
 * Assembles the status of the Gateway API's kinds: the progress of proxies, the reports of other servers, and the duty.
 *
 * Permissions: the permissions of the client; see `./gateway_api_status.ts` and `./gateway_reports.ts`.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { attachOptions, type GatewayApiSettings } from "../../gateway_api/groups/options.ts";
import type { WAIT } from "../../gateway_api/status/live.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { ClusterRevisions, type TaggedRevisions } from "../../orch/leader/cluster_revisions.ts";
import type { StatusWriterOptions } from "../../status/writer.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { Configuration } from "../sources/configuration.ts";
import { wantedRefusal } from "./gateway_api_refused.ts";
import { gatewayApiStatus } from "./gateway_api_status.ts";
import { type GatewayApiWorld, wantedStatus } from "./gateway_api_wanted.ts";
import { GatewayOwner } from "./gateway_owner.ts";
import { GatewayApiProgress } from "./gateway_progress.ts";
import { type ConnectedProxy, GatewayProxies } from "./gateway_proxies.ts";
import { GatewayReports } from "./gateway_reports.ts";
import { MeshRouteRows } from "./mesh_route_rows.ts";
import type { CountedProxy } from "./progress_rows.ts";
import { ProgressWatch } from "./progress_watch.ts";

/** A connected proxy of a pipeline. */
export type PipelineProxy = Pipeline["translator"] extends { proxies(): Iterable<infer State> } ? State : never;

/** The inputs of the status. */
export interface GatewayApiStatusInputs {
  readonly client: ApiClient;
  readonly pipeline: Pipeline;
  readonly configuration: Configuration;
  readonly xds: XdsServer;
  /** Namespace of the server. */
  readonly namespace: string;
  /** DNS suffix of services. */
  readonly domain: string;
  /** All connected proxies. */
  readonly proxies: () => Iterable<CountedProxy>;
  /** Whether a proxy serves Gateways. */
  readonly servesGateways: (state: PipelineProxy) => boolean;
  /** Name of this server, different from the names of all other servers. */
  readonly server: string;
  readonly writing: StatusWriterOptions;
}

/** Begins to report about the proxies of this server. @returns the duty that writes status */
export function startGatewayApiStatus(
  inputs: GatewayApiStatusInputs,
  settings:
    & GatewayApiSettings
    & Pick<DiscoverySettings, "MESH_GATEWAY_STATUS_PATIENCE" | "PILOT_STATUS_UPDATE_INTERVAL" | "REVISION">,
  { log, stopper }: Pick<Kernel, "log" | "stopper">,
): Duty {
  const { client, configuration, pipeline, xds, namespace, domain, server, writing } = inputs;
  const { store, facts, gatewayApi: verdicts } = configuration;
  const { known } = pipeline;
  const { ledger } = xds;
  const interval = settings.PILOT_STATUS_UPDATE_INTERVAL;
  const proxies = new GatewayProxies(ledger, () => gatewayProxies(inputs));
  const reports = new GatewayReports({ client, namespace, server, interval, log: log.scope("status") });
  let judged = 0;
  const revision = () => `${ledger.revision} ${judged}`;
  const isPushed = (object: ConfigObject) => known.isPushed(object);
  const meshRoutes = new MeshRouteRows({
    ...{ changedIn: (key) => known.changedIn(key), isPushed, revision, interval, clock: client.clock },
    ...{ proxies: inputs.proxies, log: log.scope("status") },
    routes: () => Iterator.from(verdicts.judgedMeshRoutes()).map(({ route }) => route),
  });
  verdicts.onChange(() => {
    judged++;
    meshRoutes.hurry();
  });
  meshRoutes.start();
  stopper.add("the count of proxies of routes", () => meshRoutes.stop());
  const progress = new GatewayApiProgress({
    ...{ verdicts, proxies, meshRoutes, changedIn: (key) => known.changedIn(key), isPushed },
    others: () => reports.all(),
    areEarly: () => reports.areEarly,
  });
  reports.start({ own: () => progress.report(), revision: () => `${revision()} ${meshRoutes.revision}` });
  stopper.add("reports about gateway proxies", () => reports.stop());
  const options = attachOptions({ domain, isFolder: false }, settings);
  const first: TaggedRevisions = { own: settings.REVISION, default: "default", tags: new Map() };
  let revisions: ClusterRevisions | undefined;
  const owner = new GatewayOwner({ store, facts, revisions: () => revisions?.known ?? first });
  const world: GatewayApiWorld = { store, facts, verdicts, options, mesh: () => pipeline.mesh, progress, owner };
  return gatewayApiStatus({
    ...{ client, store, facts, verdicts, reports, interval, writing },
    patience: settings.MESH_GATEWAY_STATUS_PATIENCE,
    watch: new ProgressWatch({
      ...{ verdicts, progress, proxies, meshRoutes, reports },
      revision: () => ledger.revision,
      refusals: () => ledger.refusals,
    }),
    placeOf: (object) => configuration.placeOf(object),
    revision: settings.REVISION,
    followRevisions: (changed) =>
      revisions = new ClusterRevisions(client, settings.REVISION, changed, log.scope("status")),
    isOwned: (object) => owner.owns(object),
    refused: () => configuration.refused(),
    wantedRefusal: (refused, read, now) => wantedRefusal(refused, read, now, world) as ApiJson | undefined,
    wanted: (object, present, now, patience) =>
      wantedStatus(object, { present, now, patience }, world) as ApiJson | typeof WAIT | undefined,
  });
}

/** The connected proxies of Gateways. */
function* gatewayProxies(
  { pipeline, xds, servesGateways }: Pick<GatewayApiStatusInputs, "pipeline" | "servesGateways" | "xds">,
): Iterable<ConnectedProxy> {
  const gateways = new Map<string, Omit<ConnectedProxy, "progress">>();
  for (const state of pipeline.translator.proxies()) {
    const { nodeId, namespace, properties: { labels } } = state.proxy;
    if (servesGateways(state)) gateways.set(nodeId, { namespace, labels });
  }
  for (const { stream, progress } of xds.streams()) {
    const found = stream && gateways.get(stream.view.id);
    if (found !== undefined && progress !== undefined) yield { ...found, progress };
  }
}

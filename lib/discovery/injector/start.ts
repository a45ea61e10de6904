/**
 * The injection of a server: its configuration, its answers, and the pods that were missed.
 *
 * Permissions: read of the configuration's files and their folders; those of the client.
 *
 * @module
 */
import type { InjectionView } from "../../debug/view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import { followApiVersion } from "./api_version.ts";
import { InjectionConfiguration } from "./configuration.ts";
import { Injector } from "./injector.ts";
import { MissedPods } from "./missed_pods.ts";
import { currentInjectionSettings, type InjectionVariables } from "./settings.ts";
import { watchInjectionTexts } from "./texts.ts";

/** Inputs of injection. */
export interface InjectionParts {
  readonly configuration: Pick<Configuration, "facts" | "store">;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  readonly clusterId: string;
  readonly systemNamespace: string;
}

/** A running injection. */
export interface Injection {
  readonly injector: Injector;
  readonly view: InjectionView;
}

/** The variables that are read. */
export type InjectionStartVariables = InjectionVariables & Pick<DiscoverySettings, "INJECT_ENABLED">;

/**
 * Starts it; undefined: it is switched off (`INJECT_ENABLED`). The server is ready once there is a configuration without
 * mistakes, which is waited for in the background.
 */
export function startInjection(
  { configuration: { facts, store }, mesh, client, clusterId, systemNamespace: namespace }: InjectionParts,
  settings: InjectionStartVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "readiness" | "stopper">,
): Injection | undefined {
  if (!settings.INJECT_ENABLED) return undefined;
  const { clock, metrics } = kernel;
  const log = kernel.log.scope("default");
  const { REVISION: revision } = settings;
  const configuration = new InjectionConfiguration(log);
  const apiMinor = client === undefined ? () => undefined : followApiVersion(client, kernel);
  const current = currentInjectionSettings({ configuration, mesh, store, apiMinor, clusterId, settings });
  const injector = new Injector({ settings: current, facts, metrics, log, clock });
  const config = () => configuration.state?.config;
  const missed = new MissedPods({ facts, scope: { revision, namespace }, config, log, clock });
  kernel.stopper.add("pods without a proxy", () => missed.stop());
  const ready = kernel.readiness.task("injection configured");
  configuration.onChange(() => {
    ready();
    missed.lookAgain();
  });
  watchInjectionTexts({ client, namespace, revision }, (texts) => configuration.take(texts), kernel);
  const view = {
    get configuration() {
      const { state, problems } = configuration;
      return { ...state, problems };
    },
    missed: () => missed.all(),
  };
  return { injector, view };
}

/**
 * The settings of injection in a server.
 *
 * @module
 */

import { changedObjects, type ConfigStore } from "../../config/store.ts";
import type { InjectionSettings } from "../../injection/types.ts";
import { buildInfo } from "../../kernel/program/build_info.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import { TRUST_BUNDLE_NAME } from "../duties/trust_bundle.ts";
import type { InjectionConfigState, InjectionConfiguration } from "./configuration.ts";

/** The settings in use. */
export type InjectionVariables = Pick<
  DiscoverySettings,
  | "COMPLIANCE_POLICY"
  | "ENABLE_CLUSTER_TRUST_BUNDLE_API"
  | "ENABLE_NATIVE_SIDECARS"
  | "PILOT_CA_CERT_CONFIGMAP"
  | "PILOT_CERT_PROVIDER"
  | "PILOT_ENABLE_ON_DEMAND_SIDECARS"
  | "PLATFORM"
  | "REVISION"
>;

export interface InjectionSettingsParts {
  readonly configuration: InjectionConfiguration;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  readonly store: ConfigStore;
  /** Minor version of the API; undefined: not known yet. */
  readonly apiMinor: () => number | undefined;
  readonly clusterId: string;
  readonly settings: InjectionVariables;
}

/**
 * The present settings of injection, or the problems that leave injection without settings. The value stays the same
 * object until an input changes.
 */
export type CurrentInjectionSettings = () => InjectionSettings | { readonly problems: readonly string[] };

/** @param changed Called when an input has changed. Default: nobody asks. */
export function currentInjectionSettings(
  parts: InjectionSettingsParts,
  changed: () => void = () => {},
): CurrentInjectionSettings {
  const { configuration, mesh, store } = parts;
  let made: InjectionSettings | undefined;
  const forget = () => {
    made = undefined;
    changed();
  };
  configuration.onChange(forget);
  mesh.onChange(forget);
  store.subscribe((changes) => {
    if (changedObjects(changes).some(({ kind }) => kind === "ProxyConfig")) forget();
  });
  return () => {
    if (made !== undefined && made.apiMinor === parts.apiMinor()) return made;
    const { state, problems } = configuration;
    if (state === undefined) return { problems: ["injection has no configuration yet", ...problems] };
    return made = settingsNow(state, parts);
  };
}

function settingsNow(
  { config, values }: InjectionConfigState,
  { mesh, store, apiMinor, clusterId, settings }: InjectionSettingsParts,
): InjectionSettings {
  return {
    ...{ config, values, clusterId, apiMinor: apiMinor(), mesh: mesh.state.mesh },
    proxyConfigs: store.list("ProxyConfig").map(({ meta: { namespace, name, creationTimestamp }, spec }) => ({
      ...{ namespace, name, createdAt: creationTimestamp, spec },
    })),
    version: buildInfo().version,
    revision: settings.REVISION,
    nativeSidecars: settings.ENABLE_NATIVE_SIDECARS,
    platform: settings.PLATFORM,
    certProvider: settings.PILOT_CERT_PROVIDER,
    compliancePolicy: settings.COMPLIANCE_POLICY,
    onDemand: settings.PILOT_ENABLE_ON_DEMAND_SIDECARS,
    rootConfigMap: settings.PILOT_CA_CERT_CONFIGMAP,
    trustBundle: settings.ENABLE_CLUSTER_TRUST_BUNDLE_API ? TRUST_BUNDLE_NAME : "",
  };
}

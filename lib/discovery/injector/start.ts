/**
 * The injection of a server: its configuration, its answers, and the pods without a proxy.
 *
 * Permissions: read of the configuration's files and their folders; the permissions of the client.
 *
 * @module
 */
import * as z from "zod";
import type { InjectionView } from "../../debug/view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import { InjectionConfiguration } from "./configuration.ts";
import { Injector } from "./injector.ts";
import { MissedPods } from "./missed_pods.ts";
import { type CurrentInjectionSettings, currentInjectionSettings, type InjectionVariables } from "./settings.ts";
import { watchInjectionTexts } from "./texts.ts";

/** Milliseconds until the API's version is asked for again: a cluster is upgraded while its servers run. */
const AGAIN_MS = 5 * 60_000;

/** The same while no version is known: Gateways wait for the version. */
const SOON_MS = 2_000;

/** A minor version may have a sign after the number. */
const versionSchema = z.object({ minor: z.string().regex(/^\d+/).transform((text) => parseInt(text, 10)) });

/**
 * Asks for the minor version of the orchestrator's API until the kernel stops: pods may have the fields that the
 * version knows. The returned function gives the last answer; undefined: the version is not known yet.
 */
function followApiVersion(
  client: ApiClient,
  changed: () => void,
  { stopper, clock }: Pick<Kernel, "clock" | "stopper">,
): () => number | undefined {
  let minor: number | undefined;
  const take = (next: number) => {
    if (next === minor) return;
    minor = next;
    changed();
  };
  const stop = new AbortController();
  const follow = async () => {
    while (!stop.signal.aborted) {
      try {
        const read = versionSchema.safeParse(await client.json({ path: "/version", signal: stop.signal }));
        if (read.success) take(read.data.minor);
      } catch {
        // The API is away. The informers report the outage, and the last version stays.
      }
      await clock.sleep(minor === undefined ? SOON_MS : AGAIN_MS, stop.signal).catch(() => {});
    }
  };
  const done = follow();
  stopper.add("version of the API", async () => {
    stop.abort(new Error("the server stops"));
    await done;
  });
  return () => minor;
}

export interface InjectionParts {
  readonly configuration: Pick<Configuration, "facts" | "store">;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  readonly clusterId: string;
  readonly systemNamespace: string;
}

/** The settings of proxies in pods, for injection and for the deployments of Gateways. */
export interface PodSettings {
  readonly configuration: InjectionConfiguration;
  readonly current: CurrentInjectionSettings;
  /** Whether the version of the API is known. */
  readonly knowsApi: () => boolean;
  /** Calls a listener when the settings may have changed. @returns ends the calls */
  readonly onChange: (listener: () => void) => () => void;
}

/** Reads the settings and follows them until the kernel stops. */
export function startPodSettings(
  { configuration: { store }, mesh, client, clusterId, systemNamespace: namespace }: InjectionParts,
  settings: InjectionVariables,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): PodSettings {
  const listeners = new Set<() => void>();
  const changed = () => listeners.forEach((listener) => listener());
  const configuration = new InjectionConfiguration(kernel.log.scope("default"));
  const apiMinor = client === undefined ? () => undefined : followApiVersion(client, changed, kernel);
  const current = currentInjectionSettings(
    { configuration, mesh, store, apiMinor, clusterId, settings },
    changed,
  );
  const revision = settings.REVISION;
  watchInjectionTexts({ client, namespace, revision }, (texts) => configuration.take(texts), kernel);
  return {
    ...{ configuration, current, knowsApi: () => apiMinor() !== undefined },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A running injection. */
export interface Injection {
  readonly injector: Injector;
  readonly view: InjectionView;
}

/** The settings in use. */
export type InjectionStartVariables = InjectionVariables & Pick<DiscoverySettings, "INJECT_ENABLED">;

/**
 * Starts injection. The server becomes ready after a configuration without mistakes was read; the wait happens in the
 * background.
 */
export function startInjection(
  { configuration: { facts }, systemNamespace: namespace }: Pick<InjectionParts, "configuration" | "systemNamespace">,
  { configuration, current }: PodSettings,
  { REVISION: revision }: Pick<InjectionVariables, "REVISION">,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "readiness" | "stopper">,
): Injection {
  const { clock, metrics } = kernel;
  const log = kernel.log.scope("default");
  const injector = new Injector({ settings: current, facts, metrics, log, clock });
  const config = () => configuration.state?.config;
  const missed = new MissedPods({ facts, scope: { revision, namespace }, config, log, clock });
  kernel.stopper.add("pods without a proxy", () => missed.stop());
  const ready = kernel.readiness.task("injection configured");
  configuration.onChange(() => {
    ready();
    missed.lookAgain();
  });
  const view = {
    get configuration() {
      const { state, problems } = configuration;
      return { ...state, problems };
    },
    missed: () => missed.all(),
  };
  return { injector, view };
}

/**
 * Findings between sources, and about accepted settings without effect.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** The rows, by sort. */
export const SOURCES = {
  "duplicate-object": {
    code: "MSH1007",
    title: "object twice",
    meaning:
      "One source has an object twice. In one folder this is a mistake. In several folders the two may be variants, such as overlays of one base, and a mesh has only one of them.",
    effect: "The first object is in force; this one does nothing.",
    fix: "Remove one of the two objects, or give one another name.",
  },
  "hidden-object": {
    code: "MSH1008",
    title: "object of another source has precedence",
    meaning: "A source of higher precedence has the same object.",
    effect: "The other object is in force; this one does nothing.",
    fix: "Remove one of the two objects, or give one another name.",
  },
  "derivation-failed": {
    code: "MSH1009",
    title: "objects could not be derived",
    meaning: "The derivation of objects from this one threw an exception.",
    effect: "The objects derived before stay in force.",
    fix: "Report the message: this is a defect of the server.",
  },
  "authority-not-valid": {
    code: "MSH0200",
    title: "authority that is not valid now",
    meaning: "By the machine's clock, the server's signing certificate is not valid yet, or has expired.",
    effect: "No certificate is signed: workloads keep their certificates until these expire.",
    fix: "Correct the machine's clock, or provide a signing certificate that is valid now.",
  },
  "no-effect": {
    code: "MSH1010",
    title: "no effect yet",
    meaning: "Something is accepted and checked, but the part that acts on it is not built yet.",
    effect: "The setting does nothing.",
    fix: "Do not rely on the setting in this version.",
  },
  "scope-without-effect": {
    code: "MSH1070",
    title: "scope of services without effect",
    meaning:
      "An entry of `serviceScopeConfigs` decides about no Service, or the server reaches no other network: AMBIENT_ENABLE_MULTI_NETWORK or PILOT_ENABLE_AMBIENT is off.",
    effect: "The entry does nothing. Services that no entry selects are local.",
    fix: "Correct the selectors, put the entry before the entries that select the same Services, or remove it.",
  },
  "no-log-provider": {
    code: "MSH0157",
    title: "access log without provider",
    meaning: "A Telemetry turns access logs on and names no provider, and the mesh configuration has no default.",
    effect: "Nothing is logged.",
    fix: "Write providers, or defaultProviders.accessLogging in the mesh configuration.",
  },
  "no-telemetry-provider": {
    code: "MSH1035",
    title: "tracing or metrics without provider",
    meaning:
      "A Telemetry has settings for tracing or metrics, but neither the Telemetry nor a wider one names a provider.",
    effect: "Nothing is traced or measured, also where the settings of proxies name a tracer.",
    fix: "Write providers, or defaultProviders in the mesh configuration.",
  },
  "unusable-telemetry-provider": {
    code: "MSH1026",
    title: "provider of telemetry that cannot be used",
    meaning:
      "A Telemetry names a provider that does not exist, is for another purpose, was removed from Envoy, or has an invisible service.",
    effect:
      "Nothing is sent to the provider. Without another provider, access logs follow the fields of the mesh configuration, and nothing is traced.",
    fix: "Name a provider of extensionProviders whose service the namespace sees.",
  },
  "unknown-registry": {
    code: "MSH0126",
    title: "unknown registry",
    meaning: "The networks file names a registry that this server does not have.",
    effect: "The entry puts no endpoint into the network; ranges of addresses still count.",
    fix: "Write the name of the cluster, as in CLUSTER_ID.",
  },
  "mesh-configuration-elsewhere": {
    code: "MSH1050",
    title: "mesh configuration that is not read",
    meaning:
      "The object by which a control plane is installed, or its config map, is among the files and has a mesh configuration.",
    effect: "Its settings, such as providers, are not in force.",
    fix:
      "Name the file of the object with --meshConfig, which takes the object as it is, or a file with only its content.",
  },
  "unusable-mesh-configuration": {
    code: "MSH1051",
    title: "mesh configuration that cannot be used",
    meaning:
      "The object by which a control plane is installed, or its config map, is among the files of a command, and its mesh configuration has errors.",
    effect: "The command works with the defaults; a server that is given the object does not start.",
    fix: "Correct what the message names, or name another file with --meshConfig.",
  },
  "needs-restart": {
    code: "MSH1011",
    title: "needs a restart",
    meaning: "A setting that the server reads only at its start has changed.",
    effect: "The old value stays in force until the next start.",
    fix: "Restart the server.",
  },
  "unknown-cluster": {
    code: "MSH1058",
    title: "proxies of an unknown cluster",
    meaning: "Connected proxies name a cluster (`CLUSTER_ID`) whose services are not part of this server's mesh.",
    effect:
      "The proxies get no inbound side for services of an orchestrator, and no endpoints of services that are local to a cluster. Their tokens are refused.",
    fix: "Give the server the cluster's name by `--clusterID`, or add the name to `--clusterAliases`.",
  },
  "unread-definition": {
    code: "MSH1120",
    title: "definition in unread versions",
    meaning: "A cluster's definition of a kind serves no version that the server reads.",
    effect: "No object of the kind is read.",
    fix: "Install a definition with a version that the server reads.",
  },
  "keys-not-fetched": {
    code: "MSH1022",
    title: "keys of a token issuer cannot be fetched",
    meaning: "A RequestAuthentication names an issuer whose keys could not be fetched at the last try.",
    effect: "Every token of the issuer is refused; requests without a token pass.",
    warningEffect: "The keys that were fetched before stay in force; tokens with newer keys are refused.",
    fix: "Correct jwksUri or issuer, or make the address reachable for the server. The server tries again by itself.",
  },
  "root-namespace-of-empty-folder": {
    code: "MSH0210",
    title: "root namespace fixed by an empty folder",
    meaning:
      "The server started over a folder without objects, and the mesh configuration names no root namespace: none could be chosen by objects.",
    effect: "Objects for the whole mesh count only in the server's own namespace, until the next start.",
    fix: "Write rootNamespace into the mesh configuration, or fill the folder and restart the server.",
  },
  "outside-root-namespace": {
    code: "MSH1013",
    title: "object for the mesh outside the root namespace",
    meaning: "An object for the whole mesh lies in a namespace that is not the root namespace.",
    effect: "The object is in force only for its own namespace.",
    fix:
      "Move the object into the root namespace, or write the object's namespace as `rootNamespace` of the mesh configuration.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;

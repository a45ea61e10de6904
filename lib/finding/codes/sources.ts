/**
 * Findings between sources, and about accepted settings without effect.
 *
 * @module
 */
import type { FindingRow } from "./row.ts";

/** One row for each sort. */
export const SOURCES = {
  "duplicate-object": {
    code: "MSH1007",
    title: "object twice",
    meaning:
      "One source has an object twice: in one folder that is a mistake, in several they may be variants, such as overlays of one base, of which a mesh has one.",
    effect: "The first one is in force; this one does nothing.",
    fix: "Remove one of the two, or give it another name.",
  },
  "hidden-object": {
    code: "MSH1008",
    title: "object of another source has precedence",
    meaning: "A source of higher precedence has the same object.",
    effect: "The other one is in force; this one does nothing.",
    fix: "Remove one of the two, or give it another name.",
  },
  "derivation-failed": {
    code: "MSH1009",
    title: "objects could not be derived",
    meaning: "The derivation of objects from this one threw an exception.",
    effect: "The objects that were made before stay in force.",
    fix: "Report the message: this is a defect of the server.",
  },
  "authority-not-valid": {
    code: "MSH0200",
    title: "authority that is not valid now",
    meaning: "The certificate that the server signs with begins later than now, or has ended, by the machine's clock.",
    effect: "No certificate is signed: workloads keep those that they have until these end.",
    fix: "Set the machine's clock right; bring a certificate along that is valid now.",
  },
  "no-effect": {
    code: "MSH1010",
    title: "no effect yet",
    meaning: "Something is accepted and checked, but the part that acts on it is not built yet.",
    effect: "It does nothing.",
    fix: "Do not rely on it in this version.",
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
    meaning: "A Telemetry says how to trace or to measure, and no provider is named by it or by those that it adds to.",
    effect: "Nothing is traced or measured, also where the settings of proxies name a tracer.",
    fix: "Write providers, or defaultProviders in the mesh configuration.",
  },
  "unusable-telemetry-provider": {
    code: "MSH1026",
    title: "provider of telemetry that cannot be used",
    meaning:
      "A Telemetry names a provider that is not there, is not for that, is gone from Envoy, or whose service is not seen.",
    effect:
      "Nothing goes to it; without another provider the mesh's own fields hold for access logs, and nothing is traced.",
    fix: "Name a provider of extensionProviders whose service the namespace sees.",
  },
  "unknown-registry": {
    code: "MSH0126",
    title: "unknown registry",
    meaning: "The networks file names a registry that this server does not have.",
    effect: "No endpoint is in the network because of it; ranges of addresses still count.",
    fix: "Write the name of the cluster, as in CLUSTER_ID.",
  },
  "mesh-configuration-elsewhere": {
    code: "MSH1050",
    title: "mesh configuration that is not read",
    meaning:
      "The object by which a control plane is installed, or its config map, is among the files and has a mesh configuration.",
    effect: "The settings in it, such as providers, do not hold.",
    fix:
      "Name the file of the object with --meshConfig, which takes the object as it is, or a file with its content alone.",
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
    meaning: "A setting that is read when the server starts has changed since.",
    effect: "The old value holds until the next start.",
    fix: "Restart the server.",
  },
  "unknown-cluster": {
    code: "MSH1058",
    title: "proxies of an unknown cluster",
    meaning: "Connected proxies name a cluster (`CLUSTER_ID`) whose services are no part of this server's mesh.",
    effect:
      "The proxies get no inbound side for services of an orchestrator, and no endpoints of services that are local to a cluster. Their tokens are refused.",
    fix: "Give the server the cluster's name by `--clusterID`, or add the name to `--clusterAliases`.",
  },
  "keys-not-fetched": {
    code: "MSH1022",
    title: "keys of a token issuer cannot be fetched",
    meaning: "A RequestAuthentication names an issuer whose keys could not be fetched at the last try.",
    effect: "Every token of the issuer is refused; requests without a token pass.",
    warningEffect: "The keys that were fetched before stay in force; tokens with newer keys are refused.",
    fix: "Correct jwksUri or issuer, or make the address reachable for the server; it tries again by itself.",
  },
  "root-namespace-of-empty-folder": {
    code: "MSH0210",
    title: "root namespace fixed by an empty folder",
    meaning:
      "The server started over a folder without objects, and the mesh configuration names no root namespace: none could be chosen by objects.",
    effect: "Objects for the whole mesh count in the server's own namespace alone, until the next start.",
    fix: "Write rootNamespace into the mesh configuration, or fill the folder and restart the server.",
  },
  "outside-root-namespace": {
    code: "MSH1013",
    title: "object for the mesh outside the root namespace",
    meaning: "An object for the whole mesh lies in a namespace that is not the root namespace.",
    effect: "It holds for its own namespace alone.",
    fix: "Move it into the root namespace, or name its namespace as `rootNamespace` of the mesh configuration.",
  },
} as const satisfies Readonly<Record<string, FindingRow>>;

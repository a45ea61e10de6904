import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

const files = sourceFiles(root, ["lib", "cmd", "scripts"]).map((file) => ({
  file,
  code: codeOf(Deno.readTextFileSync(`${root}/${file}`)),
}));

/** The sources without comments and texts; lines stay where they are. */
function codeOf(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(^|\s)\/\/.*$/gm, blank)
    .replace(/"(?:[^"\\\n]|\\.)*"/g, blank);
}

/** Identifiers that the glossary has another word for. */
const RETIRED: Readonly<Record<string, string>> = {
  Ask: "PageRequest in debug, ApiRequest in cni, MeshQuery in translate",
  Changed: "InvalidatedKeys",
  Claim: "ChainMatchOwner, DomainOwner, AddressCandidate, NameCandidate; a claim is a token's",
  Errand: "ScanTask",
  Heir: "Predecessor",
  HttpFilterDoors: "HttpFilterSlots",
  Layers: "ResourceSets",
  ListenerPart: "ListenerContribution",
  Member: "ProxyState",
  Part: "ServiceFragment",
  Problem: "Finding",
  Touched: "AffectedKeys",
  Trace: "ReadRecord",
  TracingReader: "RecordingReader",
  Trait: "ProxyProperty",
  Traits: "ProxyProperties",
  UnitCache: "BuildCache",
  VirtualHostPiece: "VirtualHostEntry",
  Wish: "DesiredState",
  WorldQuestion: "MeshQuery",
  founded: "created",
  told: "reported",
};

/** Files that still have one; the list only shrinks. */
const LATE: readonly string[] = [
  "lib/config/document.ts",
  "lib/config/finding/finding.ts",
  "lib/config/mesh/parse.ts",
  "lib/debug/view.ts",
  "lib/discovery/config_source.ts",
  "lib/discovery/mesh_source.ts",
  "lib/discovery/root_namespace.ts",
  "lib/discovery/server.ts",
  "lib/discovery/start.ts",
  "lib/discovery/translate_one.ts",
  "lib/discovery/upkeep.ts",
  "lib/folder/file.ts",
  "lib/folder/index.ts",
  "lib/folder/paths.ts",
  "lib/translate/cache/caches.ts",
  "lib/translate/cluster/metadata.ts",
  "lib/translate/listener/outbound/merge.ts",
  "lib/translate/proxy/node.ts",
  "lib/translate/proxy_class/host_resources.ts",
  "lib/translate/proxy_class/listeners.ts",
  "lib/translate/proxy_class/proxy_class.ts",
  "lib/translate/proxy_class/questions.ts",
  "lib/translate/proxy_class/routes.ts",
  "lib/translate/reader/build_cache.ts",
  "lib/translate/reader/read_record.ts",
  "lib/translate/reader/recording_reader.ts",
  "lib/translate/route/virtual_service.ts",
  "lib/translate/service/address.ts",
  "lib/xds/ads/host_layers.ts",
  "lib/xds/ads/layers.ts",
  "lib/xds/ads/stream.ts",
  "lib/xds/ads/watch.ts",
];

Deno.test("no identifier has a name that the glossary retired", () => {
  const pattern = new RegExp(`(?<![\\w$])(?:${Object.keys(RETIRED).join("|")})(?![\\w$])`, "g");
  const found = files.filter(({ file }) => !LATE.includes(file)).flatMap(({ file, code }) =>
    code.split("\n").flatMap((line, i) =>
      [...line.matchAll(pattern)].map(([name]) => `${file}:${i + 1} ${name}: ${RETIRED[name]}`)
    )
  );
  assert.deepEqual(found, []);
});

/** A message of the protos under its own name is the same type everywhere. */
const ALIAS = /^(?:export )?type (\w+) = (?:envoy|google|grpc|istio)\.[\w.]*\.(\w+);$/;

/** Names that several types still share; the list only shrinks. */
const SHARED: readonly string[] = [
  "Answer",
  "Ask",
  "Call",
  "Candidate",
  "CaptureMode",
  "Chain",
  "Command",
  "ConfigSource",
  "Connection",
  "Destination",
  "Draft",
  "Endpoint",
  "Entry",
  "Exchange",
  "Fields",
  "FileState",
  "Finding",
  "Found",
  "Hcm",
  "Headers",
  "JsonObject",
  "Kind",
  "Known",
  "Locality",
  "Match",
  "NameTable",
  "Outcome",
  "Page",
  "Parsed",
  "Place",
  "Placement",
  "Ports",
  "Predicate",
  "Progress",
  "ProxyState",
  "Question",
  "Reader",
  "Rule",
  "Run",
  "Selection",
  "Server",
  "ServicePort",
  "Settings",
  "Severity",
  "StartError",
  "StartFault",
  "StartOption",
  "Step",
  "Surroundings",
  "Table",
  "Target",
  "Tls",
  "Transport",
  "Validation",
  "Wanted",
];

Deno.test("the names of types are unique in the library", () => {
  const places = new Map<string, string[]>();
  for (const { file, code } of files) {
    if (!file.startsWith("lib/")) continue;
    for (const line of code.split("\n")) {
      const name = /^(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w+)/.exec(line)?.[1];
      if (name === undefined || ALIAS.exec(line)?.[2] === name) continue;
      places.set(name, [...places.get(name) ?? [], file]);
    }
  }
  const shared = [...places].filter(([name, at]) => new Set(at).size > 1 && !SHARED.includes(name));
  assert.deepEqual(shared.map(([name, at]) => `${name}: ${at.join(", ")}`), []);
});

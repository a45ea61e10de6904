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
  "lib/discovery/mesh_source.ts",
  "lib/discovery/upkeep.ts",
  "lib/translate/cluster/metadata.ts",
  "lib/translate/listener/outbound/merge.ts",
  "lib/translate/proxy/node.ts",
  "lib/translate/route/virtual_service.ts",
  "lib/translate/service/address.ts",
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
  "Call",
  "Candidate",
  "CaptureMode",
  "Chain",
  "Command",
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
  "JsonObject",
  "Kind",
  "Locality",
  "Match",
  "NameTable",
  "Outcome",
  "Parsed",
  "Place",
  "Placement",
  "Ports",
  "Predicate",
  "Progress",
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

Deno.test("the lists of what is left only shrink", () => {
  const pattern = new RegExp(`(?<![\\w$])(?:${Object.keys(RETIRED).join("|")})(?![\\w$])`);
  const late = new Set(files.filter(({ code }) => pattern.test(code)).map(({ file }) => file));
  assert.deepEqual(LATE.filter((file) => !late.has(file)), [], "take these files off the list");
  const counts = new Map<string, Set<string>>();
  for (const { file, code } of files.filter(({ file }) => file.startsWith("lib/"))) {
    for (const [, name] of code.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w+)/gm)) {
      counts.set(name!, (counts.get(name!) ?? new Set()).add(file));
    }
  }
  assert.deepEqual(SHARED.filter((name) => (counts.get(name)?.size ?? 0) < 2), [], "take these names off the list");
});

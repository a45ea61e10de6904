import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

const self = ["tests/house/names_test.ts", "tests/house/words_test.ts"];
const files = sourceFiles(root, ["lib", "cmd", "scripts", "tests"]).filter((file) => !self.includes(file)).map((
  file,
) => ({
  file,
  code: codeOf(Deno.readTextFileSync(`${root}/${file}`)),
}));

/** The sources without comments and texts, with unchanged line numbers. */
function codeOf(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, " ");
  return text.replace(/\/\*[\s\S]*?\*\//g, blank).replace(/(^|\s)\/\/.*$/gm, blank)
    .replace(/"(?:[^"\\\n]|\\.)*"/g, blank);
}

/** Identifiers retired by the glossary, with the word in use. */
const RETIRED: Readonly<Record<string, string>> = {
  Ask: "HttpRequest in debug, ApiRequest in cni, a query in translate",
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
  errand: "scanTask",
  founded: "created",
  heir: "predecessor or successor",
  layers: "resourceSets",
  told: "reported",
  wish: "desired, or a name of what is desired",
};

/** Words retired as parts of longer names, too, as in `ClaimedHeir`. */
const RETIRED_PARTS = ["Errand", "Founded", "Heir", "Told", "Touched", "Trait", "Wish"];

/** Manifests of images have a list with a retired name. */
const IMAGES: readonly string[] = [
  "scripts/images/archive.ts",
  "tests/agent/wasm/image_test.ts",
  "tests/scripts/images_archive_test.ts",
];

Deno.test("no identifier has a name that the glossary retired", () => {
  const whole = `(?<![\\w$])(?:${Object.keys(RETIRED).join("|")})(?![\\w$])`;
  const part = `(?:${RETIRED_PARTS.join("|")})s?(?![a-z])`;
  const first = `(?<![\\w$])(?:${RETIRED_PARTS.map((word) => word.toLowerCase()).join("|")})s?[A-Z]\\w*`;
  const pattern = new RegExp([whole, part, first].join("|"), "g");
  const found = files.flatMap(({ file, code }) =>
    code.split("\n").flatMap((line, i) =>
      [...line.matchAll(pattern)].filter(([name]) => !(name === "layers" && IMAGES.includes(file))).map(([name]) =>
        `${file}:${i + 1} ${name}: ${RETIRED[name] ?? "see the glossary"}`
      )
    )
  );
  assert.deepEqual(found, []);
});

/** Places where tokens are read or their claims are matched. Elsewhere a thing is wanted, taken or assigned. */
const CLAIMS_OF_TOKENS = [
  "lib/agent/tokens/",
  "lib/analyze/policies/claims.ts",
  "lib/authenticators/",
  "lib/config/kinds/authorization_policy/",
  "lib/config/kinds/request_authentication/",
  "lib/config/kinds/virtual_service/validate.ts",
  "lib/config/validation/values.ts",
  "lib/discovery/identity/authentication.ts",
  "lib/translate/authorization/",
  "lib/translate/filters/http/jwt_authn/",
  "lib/translate/proxyless/routes.ts",
  "lib/translate/route/match.ts",
  "scripts/demo/issuer.ts",
];

Deno.test("no type has a name that ends with Problem or Warning: the glossary's word is finding", () => {
  const type = /^\s*(?:export )?(?:abstract )?(?:class|interface|type|enum) (\w*(?:Problem|Warning)s?)\b/gm;
  const found = files.flatMap(({ file, code }) => [...code.matchAll(type)].map(([, name]) => `${file} ${name}`));
  assert.deepEqual(found, []);
});

Deno.test("a claim is a token's", () => {
  // The orchestrator has claims of resources.
  const word = /[\w$]*[cC]laim[\w$]*/g;
  const found = files.filter(({ file }) =>
    !file.startsWith("tests/") && !CLAIMS_OF_TOKENS.some((place) => file.startsWith(place))
  ).flatMap((
    { file, code },
  ) => [...code.matchAll(word)].filter(([name]) => name !== "resourceClaims").map(([name]) => `${file} ${name}`));
  assert.deepEqual(found, []);
});

/** A message of the protos under its own name is the same type everywhere. */
const ALIAS = /^(?:export )?type (\w+) = (?:envoy|google|grpc|istio)\.[\w.]*\.(\w+);$/;

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
  const shared = [...places].filter(([, at]) => new Set(at).size > 1);
  assert.deepEqual(shared.map(([name, at]) => `${name}: ${at.join(", ")}`), []);
});

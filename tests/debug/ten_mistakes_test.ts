/** The ten mistakes of users: on the terminal, on the page and in `live` each mistake is one complete message. */
import assert from "node:assert/strict";
import { findingText } from "../../cmd/pilot-discovery/check_text.ts";
import type { Finding } from "../../lib/finding/finding.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { excerptOf, SourceLines } from "../../lib/finding/excerpt.ts";
import { meshOf } from "../offline/mesh_of.ts";
import { page, withServer } from "../discovery/running.ts";
import { ROUTER, TestProxy } from "../debug/proxy.ts";

function object(kind: string, name: string, spec: string, version = "v1"): string {
  return `apiVersion: networking.mesh.io/${version}\nkind: ${kind}\nmetadata: { name: ${name}, namespace: x }\nspec:\n${spec}`;
}

function routes(rule: string, head = "  hosts: [reviews.example.com]\n", version = "v1"): string {
  return object("VirtualService", "mistake", `${head}  http:\n${rule}`, version);
}

function destination(host: string, extra = ""): string {
  return `      route:\n        - destination:\n            host: ${host}\n${extra}`;
}

const HOST = "reviews.example.com";

/** A mesh without a mistake. */
const WORLD = {
  "service.yaml": object(
    "ServiceEntry",
    "reviews",
    `  hosts: [${HOST}]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9, labels: { version: v1 } }]
`,
  ),
  "rule.yaml": object(
    "DestinationRule",
    "reviews",
    `  host: ${HOST}\n  subsets:\n    - name: v1\n      labels: { version: v1 }\n`,
  ),
  "a-door.yaml": object(
    "Gateway",
    "a-door",
    `  servers:\n    - port: { number: 80, name: http, protocol: HTTP }\n      hosts: [a.example.com]\n`,
  ),
};

interface Mistake {
  readonly files: Readonly<Record<string, string>>;
  /** Key of the object with the mistake. Default: the VirtualService. */
  readonly key?: string;
  readonly code: string;
  /** File, line and field. */
  readonly at: string;
  readonly value: string;
  readonly expected: RegExp;
  readonly effect: RegExp;
  readonly fix: RegExp;
}

const REFUSED = /refused/;
const TEN: Readonly<Record<string, Mistake>> = {
  "unknown host": {
    files: { "m.yaml": routes(`    - name: a\n${destination("revews.example.com")}`) },
    code: "MSH0101",
    at: "m.yaml:10 spec.http[0].route[0].destination.host",
    value: '"revews.example.com"',
    expected: /the host of a service/,
    effect: /100 % of what this rule matches is answered with 503/,
    fix: /Correct the host/,
  },
  "misspelled field": {
    files: { "m.yaml": routes(`    - timeot: 3s\n${destination(HOST)}`) },
    code: "MSH0106",
    at: "m.yaml:7 spec.http[0].timeot",
    value: '"3s"',
    expected: /did you mean timeout\?/,
    effect: REFUSED,
    fix: /Correct the field's name/,
  },
  "wrong type": {
    files: { "m.yaml": routes(`    - retries: 3\n${destination(HOST)}`) },
    code: "MSH0106",
    at: "m.yaml:7 spec.http[0].retries",
    value: "3",
    expected: /an object with attempts/,
    effect: REFUSED,
    fix: /Write an expected value/,
  },
  "bad weights": {
    files: { "m.yaml": routes(`    - name: a\n${destination(HOST, "          weight: -10\n")}`) },
    code: "MSH0106",
    at: "m.yaml:11 spec.http[0].route[0].weight",
    value: "-10",
    expected: /0 or more/,
    effect: REFUSED,
    fix: /Write an expected value/,
  },
  duplicates: {
    files: {
      "m.yaml": routes(`    - name: a\n${destination(HOST)}`),
      "n.yaml": routes(`    - name: b\n${destination(HOST)}`),
    },
    code: "MSH1007",
    at: "n.yaml:1 metadata.name",
    value: '"mistake"',
    expected: /each object once \(it is in .*m\.yaml:1 too, which is used\)/,
    effect: /The first object is in force/,
    fix: /Remove one of the two/,
  },
  "missing subset": {
    files: { "m.yaml": routes(`    - name: a\n${destination(HOST, "            subset: v9\n")}`) },
    code: "MSH0101",
    at: "m.yaml:11 spec.http[0].route[0].destination.subset",
    value: '"v9"',
    expected: /v1 \(DestinationRule x\/reviews/,
    effect: /100 % of what this rule matches is answered with 503/,
    fix: /Use v1, or add subset v9/,
  },
  "port conflict": {
    files: {
      "m.yaml": object(
        "Gateway",
        "mistake",
        `  servers:\n    - port:\n        number: 80\n        name: tcp\n        protocol: TCP\n      hosts: [b.example.com]\n`,
      ),
    },
    key: "Gateway/x/mistake",
    code: "MSH1020",
    at: "m.yaml:9 spec.servers[0].port.protocol",
    value: '"TCP"',
    expected: /one protocol for all servers of a port/,
    effect: /left out: the older one has the port/,
    fix: /Use another port/,
  },
  "bad regex": {
    files: {
      "m.yaml": routes(`    - match:\n        - uri:\n            regex: "/api/(v[0-9]+"\n${destination(HOST)}`),
    },
    code: "MSH0106",
    at: "m.yaml:9 spec.http[0].match[0].uri.regex",
    value: '"/api/(v[0-9]+"',
    expected: /an RE2 regular expression \(.*missing closing \)/,
    effect: REFUSED,
    fix: /Write an expected value/,
  },
  "wrong API version": {
    files: { "m.yaml": routes(`    - name: a\n${destination(HOST)}`, undefined, "v7") },
    code: "MSH1005",
    at: "m.yaml:1 apiVersion",
    value: '"networking.mesh.io/v7"',
    expected: /a known version .*did you mean networking\.mesh\.io\/v1\?/,
    effect: REFUSED,
    fix: /Write a kind and version/,
  },
  "missing gateway": {
    files: {
      "m.yaml": routes(`    - name: a\n${destination(HOST)}`, `  hosts: [${HOST}]\n  gateways: [a-dor]\n`),
    },
    code: "MSH0101",
    at: "m.yaml:6 spec.gateways[0]",
    value: '"a-dor"',
    expected: /a Gateway that exists .*such as x\/a-door/,
    effect: /Gateways answer 404/,
    fix: /Correct the name/,
  },
};

/** Asserts that the expected message is the only message. */
function isSaid(found: readonly Finding[], mistake: Mistake, surface: string): void {
  const said = found.map(({ severity, code, value, place: { origin, line, field } }) =>
    `${severity} ${code} ${origin?.from === "file" ? origin.file : ""}:${line} ${field} ${value}`
  );
  assert.deepEqual(said, [`error ${mistake.code} ${mistake.at} ${mistake.value}`], surface);
  const [{ expected, effect, fix }] = found as [Finding];
  assert.match(expected, mistake.expected, surface);
  assert.match(effect, mistake.effect, surface);
  assert.match(fix, mistake.fix, surface);
}

function checked(files: Readonly<Record<string, string>>): Finding[] {
  const mesh = meshOf(files);
  return [...unpaced(checkMesh(mesh, { assumeServices: false, textOf: (file) => files[file] })).findings];
}

/** The text of the table on a page for people. */
async function shownPage(port: number, path: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: "text/html" } });
  const body = (await response.text()).replace(/^[^]*<tbody/, "<tbody");
  const named: Readonly<Record<string, string>> = { quot: '"', lt: "<", gt: ">", amp: "&" };
  return body.replace(/<wbr>|<\/?span[^>]*>/g, "").replace(/<[^>]*>/g, " ").replace(
    /&(?:#(\d+)|(\w+));/g,
    (_, number, name) => number === undefined ? named[name]! : String.fromCodePoint(Number(number)),
  );
}

Deno.test("the mesh without a mistake has no finding", () => {
  assert.deepEqual(checked(WORLD).map(({ message }) => message), []);
});

for (const [name, mistake] of Object.entries(TEN)) {
  const files: Readonly<Record<string, string>> = { ...WORLD, ...mistake.files };
  Deno.test(`${name}: one message on the terminal`, () => {
    const found = checked(files);
    isSaid(found, mistake, "check");
    const excerpt = excerptOf(found[0]!, new SourceLines(files[mistake.at.split(":")[0]!]!));
    const text = findingText(found[0]!, { excerpt, originOf: () => undefined }, {
      interactive: false,
      colour: false,
      width: 4000,
    });
    const [place = "", field = ""] = mistake.at.split(" ");
    const key = /\w+(?=(?:\[\d+\])?$)/.exec(field)?.[0] ?? "";
    for (const part of [mistake.code, place, key, found[0]!.effect, found[0]!.fix]) {
      assert.ok(text.includes(part), text);
    }
    assert.match(text, mistake.expected);
    assert.ok(text.includes(mistake.value.replaceAll('"', "")), text);
  });

  Deno.test(`${name}: one message on the page, the same one in live`, async () => {
    await withServer(files, async ({ ports }) => {
      using _sidecar = await TestProxy.attach(ports.grpc);
      using _gateway = await TestProxy.attach(ports.grpc, ROUTER);
      const key = mistake.key ?? "VirtualService/x/mistake";
      const live = JSON.parse((await page(ports.http, `/debug/live?object=${key}&wait=90s`)).body);
      assert.equal(live.everywhere, false);
      isSaid([...live.refused, ...live.lost ?? []], mistake, "live");
      const problems: readonly Finding[] = JSON.parse((await page(ports.http, "/debug/problemz")).body);
      isSaid(problems, mistake, "page");
      const [{ code, place: { field }, expected, effect, fix }] = problems as [Finding];
      const shown = await shownPage(ports.http, "/debug/problemz");
      assert.ok(shown.includes(mistake.at.slice(0, mistake.at.indexOf(" "))) && shown.includes(field), shown);
      assert.ok(shown.includes(mistake.value.replaceAll('"', "")), shown);
      for (const part of [code, expected, effect, fix]) {
        assert.equal(shown.split(part).length - 1, 1, `${part} once in ${shown}`);
      }
    });
  });
}

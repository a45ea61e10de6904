/** The command `create-remote-secret` as a process: a server reads the printed access; what lacks is named. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { wantedClusters } from "../../lib/discovery/clusters/wanted.ts";
import { readAccessText } from "../../lib/orch/access/file_access.ts";
import { pilotDiscovery } from "./offline.ts";

const token = (data: object, type = "kubernetes.io/service-account-token") =>
  JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "mesh-reader-token" }, type, data });
const FILLED = token({ token: btoa("a.b.c"), "ca.crt": btoa("the roots") });
const FLAGS = ["--name=west", "--server=https://west.example:6443"];

Deno.test("a server takes the printed secret as the access to the cluster", async () => {
  const args = ["create-remote-secret", ...FLAGS, "-n=control", "-"];
  const { code, out, err } = await pilotDiscovery(args, { stdin: FILLED });
  assert.deepEqual([code, err], [0, ""]);
  const { metadata, stringData } = parse(out);
  assert.deepEqual(metadata, {
    name: "mesh-remote-secret-west",
    namespace: "control",
    labels: { "mesh/multiCluster": "true" },
  });
  const secret = { name: "control/x", created: 0, entries: new Map(Object.entries<string>(stringData)) };
  const wanted = wantedClusters([secret], "Orch").wanted.get("west")!;
  const { server, ca, user } = readAccessText({ from: "text", name: "x", text: wanted.access, by: "x" }, []);
  assert.deepEqual({ server, ca, token: user.token }, {
    server: "https://west.example:6443",
    ca: { inline: "the roots" },
    token: { inline: "a.b.c" },
  });
});

Deno.test("wrong flags, and a secret without what the cluster fills in, are refused with all mistakes", async () => {
  const cases: [string[], string, RegExp][] = [
    [["-"], FILLED, /flag --name: got "".*\n.*flag --server: got ""/],
    [
      ["--name=West", "--server=http://a", "-n=A", "-"],
      FILLED,
      /--name: got "West".*\n.*"http:\/\/a".*\n.*--namespace/,
    ],
    [[...FLAGS, "-"], token({}), /Secret mesh-reader-token: data\.token and data\[ca\.crt\]: got nothing/],
    [[...FLAGS, "-"], token({}, "Opaque"), /got 1 objects with 0 secrets of the type .*, expected one/],
    [[...FLAGS, "-"], `[${FILLED}`, /stdin: /],
  ];
  await Promise.all(cases.map(async ([args, stdin, message]) => {
    const { code, out, err } = await pilotDiscovery(["create-remote-secret", ...args], { stdin });
    assert.deepEqual({ args, code, out }, { args, code: 1, out: "" });
    assert.match(err, message);
  }));
});

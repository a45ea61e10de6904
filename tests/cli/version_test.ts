import assert from "node:assert/strict";
import { parse } from "yaml";
import { versionText } from "../../lib/cli/version.ts";

const info = { version: "1.2.3", revision: "abc", runtime: "deno2.8.3", status: "Clean", tag: "yes" };

Deno.test("the short form is a label and the version", () => {
  assert.equal(versionText(info, "", true), "client version: 1.2.3\n");
});

Deno.test("the long form is one line with everything about the build", () => {
  assert.equal(
    versionText(info, "", false),
    'client version: version.BuildInfo{Version:"1.2.3", GitRevision:"abc", GolangVersion:"deno2.8.3", BuildStatus:"Clean", GitTag:"yes"}\n',
  );
});

const expected = {
  clientVersion: { version: "1.2.3", revision: "abc", golang_version: "deno2.8.3", status: "Clean", tag: "yes" },
};

Deno.test("JSON has the keys of Istio's, indented by two", () => {
  const text = versionText(info, "json", true);
  assert.deepEqual(JSON.parse(text), expected);
  assert.match(text, /^\{\n {2}"clientVersion": \{\n {4}"version"/);
});

Deno.test("YAML has the same keys, and texts stay texts", () => {
  for (const tag of ["yes", "1.0", "null", "a: b", "", "0x1"]) {
    const read = parse(versionText({ ...info, tag }, "yaml", false), { version: "1.1" });
    assert.deepEqual(read, { clientVersion: { ...expected.clientVersion, tag } });
  }
});

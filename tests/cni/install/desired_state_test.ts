/** From the installer's options to the desired state: every option has an effect, or a message says why it cannot. */
import assert from "node:assert/strict";
import { install, InstallError, uninstall } from "../../../lib/cni/install/installer.ts";
import { readOrchConfig } from "../../../lib/cni/install/orch_config.ts";
import {
  currentDesiredState,
  type DesiredStateOptions,
  keepsExecutable,
} from "../../../lib/cni/install/desired_state.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { CA, Place, PRIMARY } from "../support/place.ts";

const server = new URL("https://10.0.0.1:6443");

/** The desired state with some options changed. */
function desired(place: Place, more: Partial<DesiredStateOptions> = {}) {
  const made = currentDesiredState(place.desiredStateOptions(server, { port: "6443", ...more }));
  return { ...made, access: readOrchConfig(made.orchConfig) };
}

Deno.test("options choose the address and port of the API, and the CA that verifies the API", () => {
  using place = new Place();
  assert.deepEqual(desired(place).access, { server: "https://10.0.0.1:6443", ca: CA, token: "token-1" });
  assert.equal(desired(place, { host: "fd00::1", port: "443" }).access.server, "https://[fd00::1]:443");
  Deno.writeTextFileSync(`${place.dir}/other.crt`, "another CA\n");
  assert.equal(desired(place, { caFile: `${place.dir}/other.crt` }).access.ca, "another CA\n");
  assert.equal(desired(place, { skipTlsVerify: true }).access.ca, undefined);
  Deno.removeSync(`${place.credentials}/ca.crt`);
  assert.equal(desired(place, { skipTlsVerify: true }).access.ca, undefined, "no CA is needed then");
});

Deno.test("options become settings of the plugin, and a template, as text or file, overrides the options", () => {
  using place = new Place();
  const entry = (more: Partial<DesiredStateOptions>) => desired(place, more).entry;
  assert.equal(entry({ logLevel: "debug" })["plugin_log_level"], "debug");
  assert.deepEqual(entry({ excludeNamespaces: ["a", "b"] })["exclude_namespaces"], ["a", "b"]);
  assert.equal(entry({ scopedLock: false })["scoped_xtables_lock"], false);
  assert.equal("scoped_xtables_lock" in entry({}), false);
  const template = `{"log_level":"error","capabilities":{"x":true}}`;
  const settings = entry({ template, logLevel: "debug" });
  assert.deepEqual([settings["plugin_log_level"], settings["capabilities"]], ["error", { x: true }]);
  Deno.writeTextFileSync(`${place.dir}/template`, template);
  assert.deepEqual(entry({ templateFile: `${place.dir}/template`, logLevel: "debug" }), settings);
  assert.deepEqual(entry({ template: "{}", templateFile: "/none" }), entry({}), "the text wins");
});

Deno.test("a file that cannot be read is named, and counted as the part that it belongs to", () => {
  using place = new Place();
  const refusal = (part: string, message: RegExp) => (e: unknown) =>
    e instanceof InstallError && e.part === part && message.test(e.message);
  assert.throws(
    () => desired(place, { templateFile: "/none" }),
    refusal("CREATE_CNI_CONFIG_FAILURE", /^template: .*none/),
  );
  assert.throws(
    () => desired(place, { caFile: "/none" }),
    refusal("CREATE_KUBECONFIG_FAILURE", /^credentials: .*none/),
  );
});

Deno.test("a skipped executable is neither placed nor removed", () => {
  using place = new Place();
  place.config("10-a.conflist", PRIMARY);
  Deno.writeTextFileSync(`${place.folders.bin}/mesh-cni`, "the node's own", { mode: 0o755 });
  const before = place.files();
  const options = place.desiredStateOptions(server, { skipExecutables: ["mesh-cni"] });
  install(place.folders, currentDesiredState(options), systemFileCalls, Date.now);
  assert.equal(place.files()["bin/mesh-cni 755"], "the node's own");
  uninstall(place.folders, systemFileCalls, keepsExecutable(options));
  assert.deepEqual(place.files(), before);
});

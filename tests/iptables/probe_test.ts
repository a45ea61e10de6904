import assert from "node:assert/strict";
import { probeProblems } from "../../lib/iptables/probe.ts";
import { type Changes, configOf } from "./support/inputs.ts";

/** Problems as `name: expected`. */
function problems(changes: Changes | undefined, port = "15002", milliseconds = 5000): string[] {
  const inputs = {
    port: { name: "port", value: port },
    timeout: { name: "timeout", value: `${milliseconds}ms`, milliseconds },
    interfacesExcluded: { name: "devices", value: changes?.interfacesExcluded ?? "" },
    outboundPortsExcluded: { name: "excluded ports", value: changes?.outboundPortsExcluded ?? "" },
  };
  const config = changes === undefined ? undefined : configOf(changes);
  return probeProblems(inputs, config).map(({ name, expected }) => `${name}: ${expected}`);
}

Deno.test("a check that can succeed has no problems", () => {
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ interfacesExcluded: "eth0,lo0,l0+", outboundPortsExcluded: "15001,15003:15010" }), []);
  assert.deepEqual(problems({ captureDns: true, captureAllDns: true }), []);
  assert.deepEqual(problems({}, "53"), []);
});

Deno.test("port 0 and a time of nothing are refused, whether a check is asked for or not", () => {
  for (const changes of [undefined, {}]) {
    assert.deepEqual(problems(changes, "0", -1), [
      "port: a port from 1 to 65535",
      "timeout: a time above 0, such as 5s",
    ]);
  }
  assert.deepEqual(problems({}, "1", 0), ["timeout: a time above 0, such as 5s"]);
});

Deno.test("a port that no rule redirects cannot be dialled: of tunnels, of DNS, excluded", () => {
  const reported = (why: string) => [`port: a port that the rules redirect, for the check: ${why}`];
  assert.deepEqual(problems({}, "15008"), reported("this is the port of inbound tunnels"));
  assert.deepEqual(problems({ tunnelPort: "15002" }), reported("this is the port of inbound tunnels"));
  assert.deepEqual(problems({ captureDns: true, captureAllDns: true }, "53"), reported("port 53 is DNS"));
  assert.deepEqual(
    problems({ outboundPortsExcluded: "22,15000:15010" }),
    reported("this one is excluded by excluded ports"),
  );
});

Deno.test("a check goes over lo, so that device cannot be left alone", () => {
  for (const interfacesExcluded of ["lo", "eth0,lo", "l+", "lo+"]) {
    assert.deepEqual(problems({ interfacesExcluded }), ["devices: devices other than lo, by which the check goes"]);
  }
});

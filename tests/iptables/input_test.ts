import assert from "node:assert/strict";
import { InputError, readInputs } from "../../lib/iptables/input.ts";
import { around, type Changes, configOf, inputs } from "./support/inputs.ts";

function problems(changes: Changes): string[] {
  try {
    readInputs(inputs(changes), around);
  } catch (error) {
    if (error instanceof InputError) return error.message.split("\n");
    throw error;
  }
  return assert.fail("nothing was refused");
}

Deno.test("without inputs only the proxy's calls to itself are redirected, for user and group 1337", () => {
  const config = configOf();
  assert.deepEqual(config.inboundPorts, { all: false, only: [] });
  assert.deepEqual(config.outboundRanges, { all: false, only: { 4: [], 6: [] } });
  assert.deepEqual([config.proxyUids, config.proxyGids], [[1337], [1337]]);
  assert.deepEqual(config.groups, { all: true, except: [] });
  assert.equal(config.inboundMode, "REDIRECT");
  assert.equal(config.dns, undefined);
});

Deno.test("all problems are reported at once, each with its name, the part at fault and the expectation", () => {
  assert.deepEqual(
    problems({
      proxyPort: "0",
      inboundPort: "70000",
      tunnelPort: "http",
      proxyUid: "1337,nobody-here",
      proxyGid: "-1",
      inboundMode: "tproxy",
      tproxyMark: "1338",
      tproxyTable: "254",
      inboundPorts: "80,81x,90:80",
      outboundPorts: "*",
      outboundRanges: "10.0.0.0/33,*,10.0.0,::1/129,fd00::/8",
      outboundRangesExcluded: "*",
      interfacesExcluded: "eth0,a-name-that-is-too-long,../x,e h,e+h",
      groups: "java,ruby",
      loopback: "10.0.0.1/32",
    }).map((line) => line.replace(/, expected .*/, "")),
    [
      'proxyUid: got "nobody-here"',
      'proxyGid: got "-1"',
      'proxyPort: got "0"',
      'inboundPort: got "70000"',
      'tunnelPort: got "http"',
      'inboundMode: got "tproxy"',
      'tproxyMark: got "1338"',
      'tproxyTable: got "254"',
      'inboundPorts: got "81x"',
      'inboundPorts: got "90:80"',
      'outboundPorts: got "*"',
      'outboundRanges: got "10.0.0.0/33"',
      'outboundRanges: got "*"',
      'outboundRanges: got "10.0.0"',
      'outboundRanges: got "::1/129"',
      'outboundRangesExcluded: got "*"',
      'interfacesExcluded: got "a-name-that-is-too-long"',
      'interfacesExcluded: got "../x"',
      'interfacesExcluded: got "e h"',
      'interfacesExcluded: got "e+h"',
      'groups: got "ruby"',
      'loopback: got "10.0.0.1/32"',
    ].toSorted((a, b) => order(a) - order(b)),
  );
});

/** Problems come in the order of reading. */
const reading = [
  ...["proxyUid", "proxyGid", "outboundPortsExcluded", "proxyPort", "inboundPort", "tunnelPort", "inboundMode"],
  ...["tproxyMark", "tproxyTable", "inboundPorts", "outboundPorts", "outboundRanges", "outboundRangesExcluded"],
  ...["interfacesExcluded", "virtualInterfaces", "groups", "loopback"],
];
function order(line: string): number {
  return reading.indexOf(line.slice(0, line.indexOf(":")));
}

Deno.test("each problem has an expectation", () => {
  assert.deepEqual(problems({ inboundPorts: "99999" }), [
    'inboundPorts: got "99999", expected a port from 1 to 65535, or a range such as 8000:8010, or * alone for all',
  ]);
  assert.match(
    problems({ outboundRanges: "x" })[0] ?? "",
    /an address range such as 10\.0\.0\.0\/8 or fd00::\/8, or \*/,
  );
});

Deno.test("of a long list of wrong elements ten are reported, the last with the number of the others", () => {
  const texts = Array.from({ length: 3000 }, (_, i) => `x${i}`).join(",");
  for (const changes of [{ inboundPorts: texts }, { outboundRanges: texts }, { groups: texts }]) {
    const reported = problems(changes);
    assert.equal(reported.length, 10);
    assert.match(reported[9] ?? "", /^\w+: got "x9, and 2990 more", expected /);
  }
  assert.equal(problems({ inboundPorts: "a,b,c,d,e,f,g,h,i,j" }).length, 10);
  assert.match(problems({ inboundPorts: "a,b,c,d,e,f,g,h,i,j" })[9] ?? "", /got "j"/);
  assert.match(problems({ inboundPorts: "x".repeat(1e6) }).join(), /^inboundPorts: got "x{200}\.\.\.", expected /);
});

Deno.test("* among other elements is refused: * must be alone, where it is allowed at all", () => {
  for (const changes of [{ inboundPorts: "*,80" }, { outboundRanges: "10.0.0.0/8,*" }, { groups: "*,5" }]) {
    assert.match(problems(changes).join(), /^\w+: got "\*", expected .*, or \* alone for all$/);
  }
  for (const changes of [{ inboundPortsExcluded: "*" }, { outboundPorts: "*" }, { outboundRangesExcluded: "*" }]) {
    assert.match(problems(changes).join(), /^\w+: got "\*", expected (?!.*alone)/);
  }
  assert.match(problems({ groupsExcluded: "*" }).join(), /^groupsExcluded: got "\*", expected (?!.*alone)/);
});

Deno.test("an element that is listed twice, in any spelling, counts once", () => {
  const config = configOf({
    inboundPorts: "80,80,080,80:80,79:80",
    outboundPortsExcluded: "22, 22",
    proxyUid: "1337,01337,mesh-proxy",
    groups: "java,202",
    outboundRanges: "10.0.0.0/8,10.1.0.0/8,::1,0::1/128",
    interfacesExcluded: "eth0,eth0",
  });
  assert.deepEqual(config.inboundPorts, { all: false, only: [{ first: 80, last: 80 }, { first: 79, last: 80 }] });
  assert.deepEqual(config.outboundPortsExcluded, [{ first: 22, last: 22 }]);
  assert.deepEqual([config.proxyUids, config.proxyGids], [[1337], [1337]]);
  assert.deepEqual(config.groups, { all: false, only: [202] });
  assert.deepEqual(config.outboundRanges.only, { 4: ["10.0.0.0/8"], 6: ["::1/128"] });
  assert.deepEqual(config.interfacesExcluded, ["eth0"]);
});

Deno.test("an exception without effect is a warning: an exception from a list, and from DNS that is not redirected", () => {
  const warnings = (changes: Changes) => readInputs(inputs(changes), around).warnings;
  assert.deepEqual(warnings({ inboundPorts: "80,81", inboundPortsExcluded: "81,15021" }), [
    "inboundPortsExcluded holds only where inboundPorts is *, and excludes nothing of its list",
  ]);
  assert.deepEqual(warnings({ groups: "5,6", groupsExcluded: "6" }), [
    "groupsExcluded holds only where groups is *, and excludes nothing of its list",
  ]);
  assert.match(warnings({ captureAllDns: true }).join(), /that needs --redirect-dns too/);
  // The injector always names the agent's own ports.
  assert.deepEqual(warnings({ inboundPorts: "80", inboundPortsExcluded: "15020,15021,15090" }), []);
  assert.deepEqual(warnings({ inboundPorts: "*", inboundPortsExcluded: "81" }), []);
});

Deno.test("no text is accepted that could become a rule", () => {
  for (const text of ["80 -j ACCEPT", "80\n-A OUTPUT", "80;reboot", "`id`", "-1", "0x50", "८०"]) {
    assert.throws(() => configOf({ inboundPorts: text }), InputError, text);
    assert.throws(() => configOf({ outboundRanges: text }), InputError, text);
    assert.throws(() => configOf({ groups: text }), InputError, text);
  }
  for (const text of ["lo -j ACCEPT", "lo\nCOMMIT", "a/b", "!lo", '"', "-o", "+"]) {
    assert.throws(() => configOf({ interfacesExcluded: text }), InputError, text);
  }
});

Deno.test("ranges are canonical: host bits are cut, a single address stays, and families are separated", () => {
  const { only } =
    configOf({ outboundRanges: "10.1.2.3/8, 192.168.1.1,FD00:0:0::1/8,2001:db8::7,10.0.0.0/8" }).outboundRanges;
  assert.deepEqual(only, { 4: ["10.0.0.0/8", "192.168.1.1/32"], 6: ["fd00::/8", "2001:db8::7/128"] });
});

Deno.test("users and groups may be names", () => {
  assert.deepEqual(configOf({ groups: "java,5" }).groups, { all: false, only: [202, 5] });
  assert.deepEqual(configOf({ proxyUid: "root,7" }).proxyUids, [0, 7]);
  assert.deepEqual(configOf({ proxyUid: "9" }).proxyGids, [9]);
  assert.deepEqual(configOf({ proxyUser: "root" }).proxyUids, [0]);
  assert.deepEqual(configOf({ proxyUser: "unknown" }).proxyUids, [1337]);
  assert.deepEqual(configOf({ proxyUid: " , " }).proxyUids, [1337]);
});

Deno.test("DNS: servers by family; all; and a warning when nothing would be redirected", () => {
  assert.deepEqual(configOf({ captureDns: true }).dns, {
    port: 15053,
    all: false,
    servers: { 4: ["10.77.0.1"], 6: ["fd77::1"] },
  });
  assert.deepEqual(configOf({ captureDns: true, captureAllDns: true }).dns, { port: 15053, all: true });
  assert.equal(configOf({ captureAllDns: true }).dns, undefined);
  const none = readInputs(inputs({ captureDns: true }), { ...around, nameServers: [] });
  assert.equal(none.config.dns, undefined);
  assert.match(none.warnings.join(), /names no server/);
  const excluded = readInputs(inputs({ captureDns: true, outboundPortsExcluded: "50:60" }), around);
  assert.equal(excluded.config.dns, undefined);
  assert.match(excluded.warnings.join(), /port 53 is excluded/);
});

Deno.test("DNS goes to the port on which the agent answers; an address without a port is refused", () => {
  const dns = { captureDns: true, captureAllDns: true };
  for (const [dnsAddress, port] of [["localhost:5353", 5353], ["[::1]:1053", 1053], [":65535", 65535]] as const) {
    assert.deepEqual(configOf({ ...dns, dnsAddress }).dns, { port, all: true });
  }
  const root = readInputs(inputs({ ...dns, dnsAddress: ":53" }), around);
  assert.deepEqual(root.config.dns, { port: 15053, all: true });
  assert.match(root.warnings.join(), /dnsAddress says port 53/);
  for (const dnsAddress of ["localhost", "localhost:0", "localhost:70000", "localhost:dns"]) {
    assert.throws(() => configOf({ ...dns, dnsAddress }), /dnsAddress: got .*, expected host:port/);
  }
});

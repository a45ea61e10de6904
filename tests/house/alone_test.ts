/**
 * Tests do not disturb each other and do not depend on the speed of the machine. The files of a folder run in one
 * process, in parallel, beside all other work of the machine. Therefore no test measures or changes a property of the
 * whole process, and a wait ends by its event.
 */
import assert from "node:assert/strict";
import { sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

interface Rule {
  readonly pattern: RegExp;
  /** The problem, and the right way. */
  readonly why: string;
  /** An example, which the pattern must find. */
  readonly bad: string;
  /** Exempt files, with the reason. */
  readonly allowed?: Readonly<Record<string, string>>;
}

const rules: readonly Rule[] = [
  {
    pattern: /\bmemoryUsage\(\)\.rss\b|\{[^}]*\brss\b[^}]*\} = (?:Deno|process)\.memoryUsage/,
    why:
      "the process has the memory of other tests too: count the bytes that are held, or measure a process of its own",
    bad: "const before = Deno.memoryUsage().rss;",
  },
  {
    pattern: /\/proc\/(?:self|thread-self|net|stat|loadavg|meminfo|\$\{Deno\.pid\})|\bDeno\.resources\(/,
    why: "the process and the machine have files and sockets of other tests too: count at the test's own objects",
    bad: 'const open = [...Deno.readDirSync("/proc/self/fd")].length;',
    allowed: {
      "tests/cni/node_agent_test.ts": "it counts the sockets below its own folder alone",
      "tests/cni/plugin/node_test.ts": "it names a namespace",
      "tests/tunnel/network/sockets.ts": "it names a namespace",
    },
  },
  {
    pattern: /\bDeno\.env\.(?:set|delete)\(|\bprocess\.env(?:\.\w+|\[[^\]]+\]) = |\bdelete process\.env/,
    why: "variables are those of the whole process: hand them to what is tested, or to a process of its own",
    bad: 'Deno.env.set("POD_NAME", "a");',
    allowed: {
      "tests/translate/proxyless/accepted.ts": "a library reads it as it is imported, and it is the same for all",
    },
  },
  {
    pattern: /\b(?:Deno|process)\.(?:chdir|umask)\(/,
    why: "the working folder and the mask of modes are those of the whole process: use full paths",
    bad: "Deno.chdir(folder);",
  },
  {
    pattern: /\bDeno\.addSignalListener\(|\bkill\(Deno\.pid\b|\bprocess\.(?:on|once)\("SIG/,
    why: "signals reach the whole process: start a process of its own",
    bad: 'Deno.kill(Deno.pid, "SIGTERM");',
    allowed: {
      "tests/cluster/echo/main.ts": "it is a process of its own",
      "tests/cluster/support/main.ts": "it is a process of its own",
      "tests/conformance/main.ts": "it is a process of its own",
      "tests/cni/support/killed_install.ts": "it is a process of its own",
      "tests/tunnel/main.ts": "it is a process of its own",
    },
  },
  {
    pattern: /\bDeno\.(?:listen|listenTls|listenDatagram|serve)\([^)]*\bport: [1-9]/,
    why: "another program may have the port: listen on port 0, or lease ports (scripts/ports.ts)",
    bad: 'Deno.listen({ hostname: "127.0.0.1", port: 8080 });',
    allowed: { "tests/dns/listen_test.ts": "the port of DNS is what is tested, at an address that nobody else has" },
  },
  {
    pattern:
      /\bperformance\.now\(\) \+ \d|\bDate\.now\(\) \+ \d+_000;|\bAbortSignal\.timeout\(\d|\bwaitLive\(.*, \d[\d_]{3,}\)|\bdeadline: Date\.now\(\) \+ \d/,
    why: "how long a test waits is said once: use PATIENCE or until of tests/patience.ts",
    bad: "const end = performance.now() + 20_000;",
    allowed: {
      "tests/http/profiles_test.ts": "it keeps a core busy, and waits for nothing",
      "tests/wire_conformance/admission_test.ts": "the deadline of a call is what is tested",
      "tests/wire_conformance/grpc_js_test.ts": "the deadline of a call is what is tested",
      "tests/xds/ledger_test.ts": "the limit is what is tested",
    },
  },
  {
    pattern: /\b(?:performance|Date)\.now\(\) - \w+\)? <|\btook < \d|\belapsed < \d/,
    why:
      "a busy machine is slow: count operations; where time is the behaviour itself, ask for seconds, and say so here",
    bad: "assert.ok(performance.now() - started < 500);",
    allowed: {
      "tests/e2e/proxyless/grpc_js_test.ts": "the timeout of a rule is what is tested: it is far below the client's",
    },
  },
];

const self = "tests/house/alone_test.ts";
const files = sourceFiles(root, ["tests"]).filter((file) => !file.startsWith("tests/bench/") && file !== self);

Deno.test("tests neither measure nor change what the whole process has, use no fixed ports, and wait by one limit", () => {
  assert(files.length > 500, "the walk found the tests");
  const found = files.flatMap((file) =>
    Deno.readTextFileSync(`${root}/${file}`).split("\n").flatMap((line, i) =>
      rules.filter(({ pattern, allowed }) => pattern.test(line) && allowed?.[file] === undefined)
        .map(({ why }) => `${file}:${i + 1} ${line.trim()}\n  ${why}`)
    )
  );
  assert.deepEqual(found, [], found.join("\n"));
});

Deno.test("each of these rules finds its example, and each exception is needed", () => {
  for (const { pattern, bad, allowed = {} } of rules) {
    assert.match(bad, pattern);
    for (const file of Object.keys(allowed)) {
      const lines = Deno.readTextFileSync(`${root}/${file}`).split("\n");
      assert(lines.some((line) => pattern.test(line)), `${file} needs no exception from ${pattern} any more`);
    }
  }
});

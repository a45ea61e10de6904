import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import { type ProcessView } from "../../lib/debug/introspection.ts";
import { StartError } from "../../lib/discovery/settings/start_error.ts";
import { createLog, defaultLogOptions, type Log } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";
import { withServer } from "../discovery/running.ts";

interface Reply {
  readonly status: number;
  readonly type: string;
  /** The Content-Security-Policy; empty: none. */
  readonly policy: string;
  readonly body: string;
}

/** Asks by hand: fetch would set the host. */
function ask(port: number, method: string, path: string, body = "", host = `localhost:${port}`): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: "127.0.0.1", port, method, path, headers: { host }, agent: false },
      (answer) => {
        const chunks: Uint8Array[] = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            type: answer.headers["content-type"] ?? "",
            policy: String(answer.headers["content-security-policy"] ?? ""),
            body: new TextDecoder().decode(Buffer.concat(chunks)),
          }));
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

const quiet = () => createLog(scopes["pilot-discovery"], { ...defaultLogOptions, targets: [] });
const facts: Pick<ProcessView, "args" | "environment"> = {
  args: ["discovery", "--domain=<b>"],
  environment: { PILOT_HTTP10: "true", CLUSTER_ID: "c1" },
};

async function withPort(run: (port: number, log: Log) => Promise<void>): Promise<void> {
  const log = quiet();
  const introspection = { address: "127.0.0.1:0", required: true, ...facts };
  await withServer({}, ({ ports }) => run(ports.introspection!, log), { log, options: { introspection } });
}

Deno.test("each subject is a page for people and JSON for tools", async () => {
  await withPort(async (port) => {
    const home = await ask(port, "GET", "/");
    assert.deepEqual([home.status, home.type], [200, "text/html; charset=utf-8"]);
    const links = [...home.body.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!);
    assert.match(links.pop() ?? "", /^http:\/\/localhost:\d+\/debug$/, "the pages about the mesh");
    assert.deepEqual(links, ["/", "/scopez/", "/memz/", "/envz/", "/procz/", "/argz/", "/versionz/"]);
    for (const link of links) assert.equal((await ask(port, "GET", link)).status, 200, link);
    const json = async (path: string) => {
      const { status, type, body } = await ask(port, "GET", path);
      assert.deepEqual([status, type], [200, "application/json"], path);
      return JSON.parse(body);
    };
    assert.equal((await json("/homej")).ProcessName, "pilot-discovery");
    assert.ok((await json("/memj/")).rss > 0);
    assert.deepEqual(await json("/envj/"), [{ name: "CLUSTER_ID", value: "c1" }, {
      name: "PILOT_HTTP10",
      value: "true",
    }]);
    assert.equal((await json("/procj/")).pid, Deno.pid);
    assert.deepEqual(await json("/argsj/"), facts.args);
    assert.match((await json("/versionj")).golang_version, /^deno\d/);
    assert.match((await ask(port, "GET", "/argsz")).body, /--domain=&#60;b&#62;/, "text is no markup");
  });
});

Deno.test("scopes are listed and changed one by one, as Istio's command line tool does it", async () => {
  await withPort(async (port, log) => {
    const all = JSON.parse((await ask(port, "GET", "/scopej/")).body) as { name: string }[];
    assert.deepEqual(all.map(({ name }) => name), log.states().map(({ name }) => name));
    const ads = JSON.parse((await ask(port, "GET", "/scopej/ads")).body);
    assert.deepEqual(ads, {
      ...{ name: "ads", description: "", output_level: "info", stack_trace_level: "none", log_callers: false },
    });
    const put = await ask(port, "PUT", "/scopej/ads", JSON.stringify({ ...ads, output_level: "debug" }));
    assert.deepEqual([put.status, put.body], [202, ""]);
    assert.equal(log.scope("ads").enabled("debug"), true);
    assert.equal(log.scope("delta").enabled("debug"), false);
    assert.equal((await ask(port, "PUT", "/scopej/ads", '{"output_level": "", "log_callers": true}')).status, 202);
    assert.deepEqual(log.states().find(({ name }) => name === "ads"), {
      ...{ name: "ads", level: "debug", stackLevel: "none", caller: true },
    });
    assert.match((await ask(port, "GET", "/scopez")).body, /data-scope="ads"><td>ads<\/td>.*?<option selected>debug</);
  });
});

Deno.test("a mistake is refused with the reason, and changes nothing", async () => {
  await withPort(async (port, log) => {
    const before = log.states();
    const cases: [string, string, string, number, RegExp][] = [
      ["GET", "/scopej/nothing", "", 400, /unknown scope name: nothing/],
      ["PUT", "/scopej/nothing", "{}", 400, /unknown scope name: nothing/],
      ["PUT", "/scopej/ads", "debug", 400, /expected a JSON object/],
      [
        "PUT",
        "/scopej/ads",
        '{"output_level":"loud","log_callers":1}',
        400,
        /^output_level: got "loud", expected one of debug, .*\nlog_callers: got 1, expected true or false$/m,
      ],
      ["DELETE", "/scopej/ads", "", 405, /expected GET or PUT/],
      ["PUT", "/scopej/%zz", "{}", 400, /percent sign/],
      ["GET", "/homej/exit", "", 405, /expected PUT/],
      ["POST", "/memz", "", 405, /expected GET/],
      ["PUT", "/memj/forcecollection", "", 501, /garbage/],
      ["GET", "/nothingz", "", 404, /<h1>No such page/],
    ];
    for (const [method, path, body, status, words] of cases) {
      const reply = await ask(port, method, path, body);
      assert.equal(reply.status, status, `${method} ${path}: ${reply.body}`);
      assert.match(reply.body, words);
    }
    assert.deepEqual(log.states(), before);
    const foreign = await ask(port, "GET", "/envj/", "", "evil.example.com");
    assert.deepEqual([foreign.status, foreign.body.includes("CLUSTER_ID")], [403, false]);
  });
});

Deno.test("a browser runs and loads only the style and the script in the pages", async () => {
  await withPort(async (port) => {
    const tags = new Set<string>();
    for (const path of ["/", "/scopez", "/memz", "/envz", "/procz", "/argz", "/versionz", "/nothingz"]) {
      const { policy, body } = await ask(port, "GET", path);
      const sources = new Map(policy.split("; ").map((part) => [part.split(" ")[0], part]));
      assert.equal(sources.get("default-src"), "default-src 'none'", path);
      assert.doesNotMatch(policy, /unsafe/);
      for (const [, tag, text] of body.matchAll(/<(script|style)>([\s\S]*?)<\/\1>/g)) {
        tags.add(tag!);
        const hash = createHash("sha256").update(text!).digest("base64");
        assert.equal(sources.get(`${tag}-src`), `${tag}-src 'sha256-${hash}'`, path);
      }
      assert.doesNotMatch(body, /<(script|link|img)\s|\s(style|on\w+)=/, `${path} needs what the policy forbids`);
    }
    assert.deepEqual([...tags].sort(), ["script", "style"]);
  });
});

Deno.test("an unknown query is refused, and the page's action does not happen", async () => {
  await withPort(async (port, log) => {
    const before = log.states();
    const said = 'query "level": this page has none of that name, expected pretty\n';
    for (const [method, path] of [["GET", "/scopej/ads"], ["PUT", "/scopej/ads"], ["GET", "/memz"], ["GET", "/x"]]) {
      const reply = await ask(port, method!, `${path}?level=debug`, method === "PUT" ? '{"output_level":"debug"}' : "");
      assert.deepEqual([reply.status, reply.body], [400, said], `${method} ${path}`);
    }
    assert.deepEqual(log.states(), before);
    const pretty = await ask(port, "GET", "/versionj?pretty");
    assert.deepEqual([pretty.status, pretty.body.includes("\n  ")], [200, true]);
  });
});

Deno.test("a taken port is a warning if it is the default, and keeps the server from starting if a user chose it", async () => {
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${taken.addr.port}`;
  try {
    const introspection = { address, required: false, ...facts };
    await withServer({}, ({ ports }) => {
      assert.equal(ports.introspection, undefined);
      return Promise.resolve();
    }, { options: { introspection } });
    const required = { options: { introspection: { ...introspection, required: true } } };
    await assert.rejects(withServer({}, () => Promise.resolve(), required), (error) => {
      assert.ok(error instanceof StartError);
      assert.deepEqual(error.faults.map(({ option }) => option), ["introspection"]);
      return true;
    });
  } finally {
    taken.close();
  }
});

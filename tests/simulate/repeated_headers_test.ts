/**
 * A request may carry a header, a parameter of its query or a cookie several times. A real Envoy's treatment is
 * measured here, and the simulator agrees.
 */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { any } from "../../lib/pb/codec.ts";
import { JOINED_HEADERS, MANAGED_HEADERS } from "../../lib/simulate/header_values.ts";
import { type RequestHeaders, simulate, type SimulatedRequest } from "../../lib/simulate/mod.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { envoyPath } from "../envoy/path.ts";
import { resourcesOf } from "./resources.ts";
import { httpExchange } from "../envoy/requests.ts";
import { startStatic, type StaticEnvoy } from "../envoy/static.ts";

type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;
type Listener = envoy.config.listener.v3.Listener;
type RouteMatch = envoy.config.route.v3.RouteMatch;

const path = envoyPath();
const ignore = path === undefined;

/** Values of the header `x-v` in a request, in the order of the columns below. */
const VALUES: readonly (readonly string[])[] = [[], ["a"], ["b"], ["a", "b"], ["b", "a"], ["", "a"], ["a,b"], [
  "3",
  "9",
]];

/**
 * Verdicts of Envoy 1.40 about the values above (`+` matches): any of the values is enough, values are never joined, an
 * inverted condition wants no matching value, and a missing header meets neither condition.
 */
const VERDICTS: readonly (readonly [HeaderMatcher, string])[] = [
  [{ string_match: { exact: "a" } }, "-+-+++--"],
  [{ string_match: { exact: "a" }, invert_match: true }, "--+---++"],
  [{ string_match: { exact: "a" }, treat_missing_header_as_empty: true }, "-+-+++--"],
  [{ string_match: { exact: "a" }, invert_match: true, treat_missing_header_as_empty: true }, "+-+---++"],
  [{ string_match: { exact: "a,b" } }, "------+-"],
  [{ string_match: { exact: "a,b" }, invert_match: true }, "-+++++-+"],
  [{ string_match: { exact: "" } }, "-----+--"],
  [{ string_match: { exact: "" }, treat_missing_header_as_empty: true }, "+----+--"],
  [{ string_match: { prefix: "a" } }, "-+-++++-"],
  [{ string_match: { prefix: "a" }, invert_match: true }, "--+----+"],
  [{ string_match: { suffix: "b" } }, "--+++-+-"],
  [{ string_match: { contains: "," } }, "------+-"],
  [{ string_match: { safe_regex: { regex: "a+" } } }, "-+-+++--"],
  [{ string_match: { safe_regex: { regex: "a+" } }, invert_match: true }, "--+---++"],
  [{ range_match: { start: 1, end: 5 } }, "-------+"],
  [{ range_match: { start: 1, end: 5 }, invert_match: true }, "-++++++-"],
  [{ present_match: true }, "-+++++++"],
  [{ present_match: false }, "+-------"],
  [{ present_match: true, invert_match: true }, "+-------"],
  [{ present_match: true, treat_missing_header_as_empty: true }, "++++++++"],
  [{}, "-+++++++"],
];

const HCM = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const RBAC = "envoy.extensions.filters.http.rbac.v3.RBAC";

/** A listener that answers 201 if a match holds, else 204. */
function listener(name: string, matches: readonly RouteMatch[], ...http_filters: object[]): Listener {
  const routes = [
    ...matches.map((match) => ({ match, direct_response: { status: 201 } })),
    { match: { prefix: "/" }, direct_response: { status: 204 } },
  ];
  const router = {
    name: "envoy.filters.http.router",
    typed_config: any("envoy.extensions.filters.http.router.v3.Router"),
  };
  const config = {
    stat_prefix: name,
    route_config: { name, virtual_hosts: [{ name, domains: ["*"], routes }] },
    http_filters: [...http_filters, router],
  };
  return {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
    filter_chains: [{ filters: [{ name: "http", typed_config: any(HCM, config) }] }],
  };
}

/** Admits or denies by a condition on a header. */
function rules(header: HeaderMatcher, action: 0 | 1) {
  const policies = { p: { permissions: [{ header }], principals: [{ any: true }] } };
  return { name: "envoy.filters.http.rbac", typed_config: any(RBAC, { rules: { action, policies } }) };
}

async function inEnvoy(listeners: Listener[], body: (compared: Comparison) => Promise<void>): Promise<void> {
  const envoy = await startStatic(path!, { listeners });
  try {
    await body(new Comparison(envoy, listeners));
  } finally {
    await envoy.stop();
  }
}

/** Compares the status of Envoy with the simulator's. */
class Comparison {
  readonly #envoy: StaticEnvoy;
  readonly #listeners: ReadonlyMap<string, Listener>;

  constructor(envoy: StaticEnvoy, listeners: readonly Listener[]) {
    this.#envoy = envoy;
    this.#listeners = new Map(listeners.map((one) => [one.name!, one]));
  }

  async status(name: string, asked: { readonly path: string; readonly headers: RequestHeaders }): Promise<number> {
    const request = { method: "GET", host: "a", ...asked };
    const { status } = await httpExchange(this.#envoy.port(name), request);
    assert.equal(this.simulated(name, request), status, `${name} ${JSON.stringify(asked)}`);
    return status;
  }

  simulated(name: string, request: Partial<SimulatedRequest>): number {
    const { outcome } = simulate(resourcesOf({ listeners: [this.#listeners.get(name)!] }), {
      ...{ direction: "direct", destination: { ip: "127.0.0.1", port: 0 }, protocol: "http" },
      ...request,
    });
    return outcome.kind === "answered" ? outcome.status : 0;
  }

  port(name: string): number {
    return this.#envoy.port(name);
  }
}

Deno.test({
  name: "each value of a repeated header is compared, by routes and by rules, and the table says how",
  ignore,
  fn: () => {
    const matchers = VERDICTS.map(([matcher]) => ({ name: "x-v", ...matcher }));
    const listeners = [
      listener("routes", matchers.map((header, i) => ({ path: `/${i}`, headers: [header] }))),
      ...matchers.flatMap((header, i) => [
        listener(`allow${i}`, [], rules(header, 0)),
        listener(`deny${i}`, [], rules(header, 1)),
      ]),
    ];
    return inEnvoy(listeners, async (compared) => {
      for (const [i, [matcher, expected]] of VERDICTS.entries()) {
        let [routes, allow, deny] = ["", "", ""];
        for (const values of VALUES) {
          const headers = { "x-v": values };
          routes += await compared.status("routes", { path: `/${i}`, headers }) === 201 ? "+" : "-";
          allow += await compared.status(`allow${i}`, { path: "/", headers }) === 204 ? "+" : "-";
          deny += await compared.status(`deny${i}`, { path: "/", headers }) === 403 ? "+" : "-";
        }
        assert.deepEqual(
          { routes, allow, deny },
          { routes: expected, allow: expected, deny: expected },
          JSON.stringify(matcher),
        );
      }
    });
  },
});

/** Headers with separate values: headers of no extension, and some with the look of joined values. */
const APART = [
  ...["accept-charset", "accept-language", "cookie", "date", "dnt", "forwarded", "from", "last-event-id"],
  ...["max-forwards", "proxy-authorization", "range", "sec-fetch-mode", "traceparent", "tracestate", "warning"],
  ...["x-amzn-trace-id", "x-b3-traceid", "x-custom", "x-envoy-degraded", "x-ot-span-context", "x-real-ip"],
];

Deno.test({
  name:
    "Envoy joins the values of the headers that the simulator joins, and removes the headers that the simulator does not judge",
  ignore,
  fn: () => {
    const names = [...JOINED_HEADERS, ...APART, ...MANAGED_HEADERS];
    const routes = names.flatMap((name) =>
      ["1", "1,2"].map((exact) => ({ path: `/${name}/${exact}`, headers: [{ name, string_match: { exact } }] }))
    );
    return inEnvoy([listener("routes", routes)], async (compared) => {
      const found: Record<string, string[]> = { joined: [], apart: [], neither: [] };
      for (const name of names) {
        const ask = async (value: string) => {
          const request = { method: "GET", host: "a", path: `/${name}/${value}`, headers: { [name]: ["1", "2"] } };
          if (!MANAGED_HEADERS.has(name)) return await compared.status("routes", request) === 201;
          assert.equal(compared.simulated("routes", request), 0, `${name} is judged`);
          return (await httpExchange(compared.port("routes"), request)).status === 201;
        };
        found[await ask("1,2") ? "joined" : await ask("1") ? "apart" : "neither"]!.push(name);
      }
      assert.deepEqual(found, { joined: [...JOINED_HEADERS], apart: APART, neither: [...MANAGED_HEADERS] });
    });
  },
});

Deno.test({
  name: "of a parameter that is there several times the first value counts",
  ignore,
  fn: () => {
    const query = (exact: string) => ({
      path: `/${exact}`,
      query_parameters: [{ name: "x", string_match: { exact } }],
    });
    return inEnvoy([listener("routes", [query("a"), query("b"), query("a,b"), query("")])], async (compared) => {
      const seen = [];
      for (const path of ["/a?x=a&x=b", "/b?x=a&x=b", "/a,b?x=a&x=b", "/?x=&x=a", "/a?x=&x=a", "/a?y=1&x=a&X=b"]) {
        seen.push([path, await compared.status("routes", { path, headers: {} })]);
      }
      assert.deepEqual(seen, [
        ["/a?x=a&x=b", 201],
        ["/b?x=a&x=b", 204],
        ["/a,b?x=a&x=b", 204],
        ["/?x=&x=a", 201],
        ["/a?x=&x=a", 204],
        ["/a?y=1&x=a&X=b", 201],
      ]);
    });
  },
});

Deno.test({
  name: "cookies in several headers are compared one by one in HTTP/1.1, and in HTTP/2 as one text",
  ignore,
  fn: () => {
    const texts = ["a=1", "b=2", "a=1; b=2", "a=1,b=2"];
    const routes = texts.map((exact, i) => ({ path: `/${i}`, headers: [{ name: "cookie", string_match: { exact } }] }));
    return inEnvoy([listener("routes", routes)], async (compared) => {
      const headers = { cookie: ["a=1", "b=2"] };
      const [first, second]: number[][] = [[], []];
      for (const i of texts.keys()) {
        first!.push(await compared.status("routes", { path: `/${i}`, headers }));
        const status = await overHttp2(compared.port("routes"), `/${i}`, headers);
        const request = { host: "a", path: `/${i}`, headers, httpVersion: "HTTP/2" } as const;
        assert.equal(compared.simulated("routes", request), status, `${texts[i]}`);
        second!.push(status);
      }
      assert.deepEqual({ first, second }, { first: [201, 201, 204, 204], second: [204, 204, 201, 204] });
    });
  },
});

async function overHttp2(port: number, path: string, headers: Record<string, string[]>): Promise<number> {
  const client = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve, reject) => {
      client.on("error", reject);
      const stream = client.request({ ":path": path, ":authority": "a", ...headers });
      stream.on("error", reject);
      stream.on("response", (answer) => resolve(Number(answer[":status"])));
      stream.resume();
      stream.end();
    });
  } finally {
    client.destroy();
  }
}

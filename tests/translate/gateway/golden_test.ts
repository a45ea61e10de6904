/**
 * Goldens: what each world in `tests/testdata/translate/gateway/in` becomes. `deno task goldens` accepts a change.
 */
import assert from "node:assert/strict";
import { encode } from "../../../lib/pb/codec.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import type { Built } from "../../../lib/translate/message/built.ts";
import { gatewayListeners } from "../../../lib/translate/gateway/listeners.ts";
import { gatewayRouteConfigurations } from "../../../lib/translate/gateway/routes.ts";
import type { FileSecret } from "../../../lib/translate/message/file_secret.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { inputNames, testGoldens } from "../../golden.ts";
import { envoyPath, validate } from "../envoy.ts";
import { routeListener } from "../route/route_listener.ts";
import { gatewayWorld } from "./gateway_world.ts";

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const folder = new URL("../../testdata/translate/gateway/", import.meta.url);
const names = inputNames(new URL("in/", folder));

function build(name: string, edit: (yaml: string) => string = (yaml) => yaml) {
  const { read, targets } = gatewayWorld(edit(Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder))));
  return { ...gatewayListeners(read, targets), routes: [...gatewayRouteConfigurations(read, targets).values()] };
}

/** Which parts of objects are in a message, the tests of what reaches no proxy show. */
function shown<T extends object>(type: string, { message, parts: _, ...rest }: Built<T>) {
  return { ...rest, message: readable(type, encode(type, message)) };
}

function text(name: string): string {
  const { listeners, problems, routes } = build(name);
  return JSON.stringify(
    {
      listeners: listeners.map((built) => shown("envoy.config.listener.v3.Listener", built)),
      routes: routes.map(({ routeConfiguration, virtualHosts }) => ({
        routeConfiguration: shown("envoy.config.route.v3.RouteConfiguration", routeConfiguration),
        virtualHosts: virtualHosts.map((built) => shown("envoy.config.route.v3.VirtualHost", built)),
      })),
      problems,
    },
    null,
    1,
  ) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(names.map((name) => [name, () => text(name)])),
});

const envoyBinary = envoyPath();

/** Static secrets watch nothing. */
function inOnePlace(secret: FileSecret): envoy.extensions.transport_sockets.tls.v3.Secret {
  const { watched_directory: _, ...certificate } = secret.tls_certificate ?? {};
  const { watched_directory: __, ...validation } = secret.validation_context ?? {};
  return secret.tls_certificate
    ? { name: secret.name, tls_certificate: certificate }
    : { name: secret.name, validation_context: validation };
}

Deno.test({
  name:
    "Envoy accepts every golden listener and route configuration of gateways, and calls no field of ours deprecated",
  ignore: envoyBinary === undefined,
  async fn() {
    const pem = new URL("../cluster/pem/", folder).pathname;
    for (const name of names) {
      const { listeners, routes } = build(name, (yaml) => yaml.replaceAll("/etc/certs/", pem));
      const configurations = routes.map(({ routeConfiguration, virtualHosts }): RouteConfiguration => {
        const own = virtualHosts.map(({ message }) => message);
        const { message } = routeConfiguration;
        return own.length > 0 ? { ...message, virtual_hosts: own } : message;
      });
      const all = [...listeners.map(({ message }) => message), ...configurations.map(routeListener)];
      const secrets = new Map(listeners.flatMap((built) => built.secrets ?? []).map((s) => [s.name, inOnePlace(s)]));
      const verdict = await validate(envoyBinary!, { listeners: all, secrets: [...secrets.values()] });
      assert.ok(verdict.accepted, `${name}: ${verdict.output}`);
      const deprecated = new Set(verdict.deprecated);
      deprecated.delete("envoy.config.route.v3.RouteAction.max_grpc_timeout");
      assert.deepEqual([...deprecated], []);
    }
  },
});

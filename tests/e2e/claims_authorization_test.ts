/** Policies about the claims of tokens: real tokens, verified by a RequestAuthentication, at a strict Envoy. */
import { openssl } from "../certificates.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { type Asked, withGuarded } from "./support/guarded.ts";
import { envoyPath } from "./support/mesh.ts";

const ignore = envoyPath() === undefined || !openssl;

async function authentication(issuer: TestIssuer): Promise<string> {
  const metadata = { name: "tokens", namespace: "demo" };
  const spec = { jwtRules: [{ issuer: issuer.url, jwks: await issuer.keySet() }] };
  return JSON.stringify({ apiVersion: "security.istio.io/v1", kind: "RequestAuthentication", metadata, spec });
}

Deno.test({
  name: "issuer, subject, audience, presenter and claims decide, each as a whole, a part, in a list or nested",
  ignore,
  fn: async () => {
    await using issuer = await TestIssuer.start();
    const tokens = await authentication(issuer);
    const exp = Math.floor(Date.now() / 1000) + 3600;
    const bearer = async (claims: object): Promise<Asked> => {
      const token = await issuer.token({ exp, iat: exp - 7200, nbf: exp - 7200, ...claims });
      return { headers: { authorization: `Bearer ${token}` } };
    };
    const full = await bearer({
      sub: "ann",
      aud: ["shop", "pay"],
      azp: "app",
      groups: ["admin", "staff"],
      tier: "premium",
      realm: { roles: ["reader"] },
    });
    const other = await bearer({ sub: "bob", aud: "mail", groups: ["adm"] });
    await withGuarded({ files: () => ({ "tokens.yaml": tokens }) }, async ({ check }) => {
      const source = (requestPrincipals: string[]) => ({ from: [{ source: { requestPrincipals } }] });
      const when = (key: string, values: string[]) => ({ when: [{ key, values }] });
      const admitsAnn: readonly (readonly [string, object])[] = [
        ["whole principal", source([`${issuer.url}/ann`])],
        ["beginning of the subject", source([`${issuer.url}/an*`])],
        ["any issuer", source(["*/ann"])],
        ["condition", when("request.auth.principal", [`${issuer.url}/ann`])],
        ["audience in a list", when("request.auth.audiences", ["pay"])],
        ["presenter", when("request.auth.presenter", ["app"])],
        ["claim in a list", when("request.auth.claims[groups]", ["admin"])],
        ["claim as a text, by its beginning", when("request.auth.claims[tier]", ["prem*"])],
        ["nested claim", when("request.auth.claims[realm][roles]", ["reader"])],
        ["any presenter", when("request.auth.presenter", ["*"])],
      ];
      for (const [name, rule] of admitsAnn) {
        await check({ name, policies: [{ spec: { rules: [rule] } }], asked: [[full, 200], [other, 403], [{}, 403]] });
        await check({
          name: `${name}, denied`,
          policies: [{ spec: { action: "DENY", rules: [rule] } }],
          asked: [[full, 403], [other, 200], [{}, 200]],
        });
      }
      await check({
        name: "any token at all, which must be good",
        policies: [{ spec: { rules: [source(["*"])] } }],
        asked: [[full, 200], [other, 200], [{}, 403], [{ headers: { authorization: "Bearer e30.e30.e30" } }, 401]],
      });
      await check({
        name: "no token is no match of a refused principal",
        policies: [{ spec: { action: "DENY", rules: [{ from: [{ source: { notRequestPrincipals: ["*"] } }] }] } }],
        asked: [[full, 200], [{}, 403]],
      });
    });
  },
});

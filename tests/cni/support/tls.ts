/** A CA of its own and a certificate for 127.0.0.1, made by openssl. */
import { must } from "./commands.ts";

/** PEM texts. */
export interface Tls {
  ca: string;
  cert: string;
  key: string;
}

/** Makes both anew. */
export async function selfSigned(): Promise<Tls> {
  const dir = await Deno.makeTempDir({ prefix: "mcni-" });
  try {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    await must("openssl", [
      "req",
      "-x509",
      ...key,
      "-keyout",
      `${dir}/ca.key`,
      "-out",
      `${dir}/ca`,
      "-subj",
      "/CN=ca",
      "-days",
      "2",
    ]);
    await must("openssl", ["req", ...key, "-keyout", `${dir}/key`, "-out", `${dir}/ask`, "-subj", "/CN=api"]);
    await Deno.writeTextFile(`${dir}/ext`, "subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n");
    const sign = [
      "-CA",
      `${dir}/ca`,
      "-CAkey",
      `${dir}/ca.key`,
      "-CAcreateserial",
      "-extfile",
      `${dir}/ext`,
      "-days",
      "2",
    ];
    await must("openssl", ["x509", "-req", "-in", `${dir}/ask`, "-out", `${dir}/cert`, ...sign]);
    const read = (name: string) => Deno.readTextFileSync(`${dir}/${name}`);
    return { ca: read("ca"), cert: read("cert"), key: read("key") };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}
